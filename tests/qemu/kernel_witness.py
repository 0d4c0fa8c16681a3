# SPDX-License-Identifier: MIT
"""kernel_witness - what the kernel itself says about a process's mappings, and the page table.

smaps has FilePmdMapped, and with the series ContPteMapped. Both must be exactly what the page table
shows, mapping by mapping.
"""
import re
from dataclasses import dataclass, field

import pagetable
from witness import KIB, MIB, PROBE_SECONDS, Disagreement, started_probe

# By base page: contpte block, and what a PMD entry maps.
BLOCK_BYTES = {'4k': 64 * KIB, '16k': 2 * MIB, '64k': 2 * MIB}
PAGE_BYTES = {'4k': 4 * KIB, '16k': 16 * KIB, '64k': 64 * KIB}

_HEADER = re.compile(r'([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) \S+ \d+ *(.*)')
_SIZE = re.compile(r'(\w+): +(\d+) kB')


@dataclass
class Mapping:
    """One of smaps. Sizes are bytes; None is unknown."""
    start: int
    end: int
    permissions: str
    offset: int
    path: str
    smaps_contpte: object = None
    smaps_pmd: object = None
    seen: pagetable.Count = None

    @property
    def is_text(self):
        """Executable, of a file."""
        return 'x' in self.permissions and self.path.startswith('/')

    def whole_blocks(self, block, file_bytes):
        """(start, end) by file offset of the whole blocks that both mapping and file have."""
        end = min(self.offset + self.end - self.start, file_bytes)
        start, end = -(-self.offset // block) * block, end // block * block
        return start, max(start, end)

    def congruent(self, block):
        """Whether addresses and offsets fit together."""
        return (self.start - self.offset) % block == 0


def parse_smaps(text):
    """The mappings, in order."""
    mappings = []
    for line in text.splitlines():
        header, size = _HEADER.fullmatch(line), _SIZE.fullmatch(line)
        if header:
            mappings.append(Mapping(int(header[1], 16), int(header[2], 16), header[3],
                                    int(header[4], 16), header[5]))
        elif size and size[1] == 'ContPteMapped':
            mappings[-1].smaps_contpte = int(size[2]) * KIB
        elif size and size[1] == 'FilePmdMapped':
            mappings[-1].smaps_pmd = int(size[2]) * KIB
    return mappings


@dataclass
class Share:
    """How much of a probe's text is mapped large. Sizes are bytes."""
    text: int = 0
    whole: int = 0       # in whole blocks
    congruent: int = 0   # of these, where addresses allow one entry
    contpte: int = 0
    pmd: int = 0
    smaps_contpte: object = None
    read: int = 0
    worst: list = field(default_factory=list)

    @property
    def large(self):
        """Mapped by large entries of any kind."""
        return self.contpte + self.pmd

    @property
    def of_text(self):
        """A fraction."""
        return self.large / self.text

    @property
    def of_whole_blocks(self):
        """A fraction."""
        return self.large / self.whole


def _compare(mapping):
    """The kernel's two figures and the page table's."""
    pairs = [('ContPteMapped', mapping.smaps_contpte, mapping.seen.contpte)]
    if mapping.path.startswith('/'):
        pairs.append(('FilePmdMapped', mapping.smaps_pmd, mapping.seen.block))
    for name, theirs, ours in pairs:
        if theirs is not None and theirs != ours:
            raise Disagreement(f'{mapping.start:x}-{mapping.end:x} {mapping.path}: smaps says '
                               f'{name} {theirs}, the page table {ours}')


def _must_say(bench, mappings):
    """The series' line is there, in all of smaps or nowhere."""
    with_line = sum(mapping.smaps_contpte is not None for mapping in mappings)
    expected = len(mappings) if bench.series == 'after' else 0
    if with_line != expected:
        raise Disagreement(f'{with_line} of {len(mappings)} mappings have ContPteMapped in smaps, '
                           f'should be {expected}')


def _add_up(mappings, sizes, block, page):
    share = Share()
    for mapping in mappings:
        if not mapping.is_text or mapping.path.startswith('/tools/') or '/ld-' in mapping.path:
            continue
        start, end = mapping.whole_blocks(block, -(-sizes[mapping.path] // page) * page)
        share.text += mapping.end - mapping.start
        share.whole += end - start
        share.congruent += (end - start) * mapping.congruent(block)
        share.contpte += mapping.seen.contpte
        share.pmd += mapping.seen.block
        if mapping.smaps_contpte is not None:
            share.smaps_contpte = (share.smaps_contpte or 0) + mapping.smaps_contpte
        share.worst.append((mapping.seen.large - (end - start), mapping, (end - start)))
    share.worst = [
        f'{mapping.path} {mapping.seen.large // KIB} of {whole // KIB} KiB'
        + ('' if mapping.congruent(block) else ' (not aligned)')
        for lack, mapping, whole in sorted(share.worst, key=lambda item: item[0])[:3] if lack < 0]
    return share


def testify(bench, setup, command):
    """Runs the probe's COMMAND and returns its Share."""
    guest, block, page = bench.guest, BLOCK_BYTES[bench.pages], PAGE_BYTES[bench.pages]
    with started_probe(guest, setup, command) as probe:
        output = bench.run(f'smaps_of_probe {setup.filesystem}', PROBE_SECONDS)
        smaps, sizes = re.fullmatch(r'@@smaps\n(.*)@@sizes\n(.*)', output, re.DOTALL).groups()
        mappings = parse_smaps(smaps)
        _must_say(bench, mappings)
        with guest.address_space(probe.cookie_address, probe.cookie) as space:
            if space.page_bytes != page:
                raise Disagreement(f'TCR_EL1 says pages of {space.page_bytes} bytes')
            for mapping in mappings:
                mapping.seen = pagetable.count(space, mapping.start, mapping.end)
                _compare(mapping)
    share = _add_up(mappings, {path: int(size) for size, path in
                               (line.split(' ', 1) for line in sizes.splitlines())}, block, page)
    share.read = probe.read_bytes
    if not share.whole:
        raise Disagreement('the probe has no library with a whole block')
    return share
