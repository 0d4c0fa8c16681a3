# SPDX-License-Identifier: MIT
"""witness - one probe in a guest, seen by two that know nothing of each other.

In the guest, `execalign report` infers what is mapped large from page frames and folios. From the
host, the page table itself is read. What they say about each text must be the same.
"""
import contextlib
import json
import re
from dataclasses import dataclass, field

import pagetable
from artefacts import USERLANDS

KIB, MIB = 1 << 10, 1 << 20
PROBE_SECONDS = 120
# Blocks of 64K per text that report may take for mapped by one entry although they are not.
SMALL_BLOCKS_EXCESS = 2


class Disagreement(Exception):
    """The two witnesses contradict each other, or one of them cannot testify."""


def root_of(filesystem, method):
    """Where in /mnt a method's userland is: some have one of their own."""
    return f'{filesystem}-{method}' if method in USERLANDS else filesystem


@dataclass(frozen=True)
class Setup:
    """What a probe runs under."""
    filesystem: str = 'ext4'
    libc: str = 'glibc'
    method: str = 'plain'  # plain, audit, preload, thp, patched, aligned
    cache: str = 'cold'    # cold, small (warm, in the smallest folios)
    read_ahead_kib: int = 128
    touch: str = 'seq'     # seq, random, call
    start: str = 'dlopen'  # startup, dlopen, mmap
    advise: str = 'auto'   # EXECALIGN_ADVISE

    def name(self):
        """The words of the matrix, as a path."""
        words = [self.filesystem, self.libc, self.method, self.cache, f'ra{self.read_ahead_kib}',
                 self.touch, self.start]
        if self.advise != 'auto':
            words.append(self.advise)
        return '/'.join(words)

    @property
    def root(self):
        """Where in /mnt its userland is."""
        return root_of(self.filesystem, self.method)


@dataclass
class Library:
    """A library of the probe. All sizes are of its text."""
    path: str
    text_bytes: int
    whole_bytes: int        # in whole blocks of the machine's smallest block
    touched_bytes: int
    contpte_bytes: int
    block_bytes: int        # in PMD entries
    congruent: object       # for the block that report judges it by; None if not eligible
    judged_block_bytes: object
    judged_whole_bytes: int # in whole blocks of that size
    reason: object
    excess_bytes: int = 0   # by which report's inference is too high

    @property
    def large_bytes(self):
        """Mapped by large entries of any kind."""
        return self.contpte_bytes + self.block_bytes


@dataclass
class Testimony:
    """What a probe showed."""
    page_bytes: int
    read_bytes: int
    libraries: list = field(default_factory=list)

    def total(self, member):
        """Sum over the libraries."""
        return sum(getattr(library, member) for library in self.libraries)

    @property
    def share_of_text(self):
        """Mapped large, of all text."""
        return self.total('large_bytes') / self.total('text_bytes')

    @property
    def share_of_whole_blocks(self):
        """Mapped large, of what can be."""
        return self.total('large_bytes') / self.total('whole_bytes')


def whole_blocks(text, block, page):
    """First byte and end, by file offset, of the whole blocks in a text's pages."""
    first = text['file_offset_bytes'] // page * page
    last = -(-(text['file_offset_bytes'] + text['text_bytes']) // page) * page
    start, end = -(-first // block) * block, last // block * block
    return (start, end) if end > start else (start, start)


def _mapped_by_one_entry_each(space, text, block, pmd):
    """Bytes of the text's whole blocks whose pages are all mapped by entries of this size."""
    start, end = whole_blocks(text, block, space.page_bytes)
    base = int(text['address'], 16) - text['file_offset_bytes']
    mapped = 0
    for offset in range(start, end, block):
        seen = pagetable.count(space, base + offset, base + offset + block)
        if seen.block == block or (block < pmd and seen.large == block):
            mapped += block
    return mapped


def _page_range(space, text):
    start = int(text['address'], 16) & ~(space.page_bytes - 1)
    end = -(-(int(text['address'], 16) + text['text_bytes']) // space.page_bytes)
    return start, end * space.page_bytes


def _library(space, thing, machine, setup):
    """Compares the two on one library, and adds up what the page table says."""
    pmd = machine['pmd_block_bytes']
    smallest = machine['contpte_block_bytes']
    found = Library(thing['path'], 0, 0, 0, 0, 0, thing['congruent'], thing['block_bytes'],
                    thing['whole_blocks_bytes'], thing['reason'] and thing['reason']['code'])
    mapped = 0
    for text in thing['texts']:
        seen = pagetable.count(space, *_page_range(space, text))
        found.text_bytes += text['text_bytes']
        start, end = whole_blocks(text, smallest, space.page_bytes)
        found.whole_bytes += end - start
        found.touched_bytes += seen.touched
        found.contpte_bytes += seen.contpte
        found.block_bytes += seen.block
        if thing['block_bytes']:
            mapped += _mapped_by_one_entry_each(space, text, thing['block_bytes'], pmd)
    _compare(thing, 'present_bytes', found.touched_bytes, 0)
    if thing['block_bytes']:
        found.excess_bytes = _compare(thing, 'block_mapped_bytes', mapped,
                                      _excess_max(thing, machine, setup))
    return found


def _excess_max(thing, machine, setup):
    """How much too high report's inference of contiguous entries may be; never too low.

    The kernel joins entries that it maps in one go. What was read with the advice that the shim gives
    is mapped so, and PMD entries are counted by the kernel. Blocks of 64K at the ends of what
    fault-around maps are not, and neither are blocks that were read ahead (docs/report-json.md).
    """
    if thing['block_bytes'] == machine['pmd_block_bytes']:
        return 0
    if machine['contpte_block_bytes'] == 64 * KIB:
        return SMALL_BLOCKS_EXCESS * len(thing['texts']) * 64 * KIB
    return 0 if setup.advise == 'auto' else thing['whole_blocks_bytes'] // 4


def _compare(thing, member, ours, excess_max):
    """Returns by how much report's figure is higher."""
    theirs = thing[member]
    if theirs is None or not ours <= theirs <= ours + excess_max:
        raise Disagreement(f"{thing['path']}: report says {member} {theirs}, "
                           f'the page table {ours}')
    return theirs - ours


def _check_mappings(maps, report):
    """Every executable mapping of a file is in the report: nothing is left out silently."""
    reported = {thing['path'] for thing in report['processes'][0]['objects']}
    for line in maps.splitlines():
        fields = line.split(None, 5)
        if len(fields) == 6 and fields[1].startswith('r-x') and fields[5].startswith('/') \
                and fields[5].strip() not in reported:
            raise Disagreement(f'report does not mention {fields[5]}')


def _is_subject(thing):
    """Libraries that somebody could place; not the program, ld.so and the shim themselves."""
    return thing['role'] == 'library' and not thing['path'].startswith('/tools/')


def _parse_report(text, output):
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise Disagreement(f'execalign report fails: {output[-200:]}') from None


@dataclass
class Probe:
    """One that has touched everything and spins."""
    cookie_address: int
    cookie: bytes
    read_bytes: int  # from disks, until then


@contextlib.contextmanager
def started_probe(guest, setup, command):
    """Runs the probe's COMMAND (a list, paths in the chroot) as long as the statement lasts."""
    _, before = guest.run('disk_reads')
    environment = '' if setup.advise == 'auto' else f'EXECALIGN_ADVISE={setup.advise}'
    status, output = guest.run(
        f'EXTRA_ENVIRONMENT="{environment}" start_probe {setup.root} {setup.method} '
        + ' '.join(command), PROBE_SECONDS)
    ready = re.search(r'READY pid=(\d+) cookie=0x([0-9a-f]+) value=([0-9a-f]{32})', output)
    if status or not ready:
        raise Disagreement(f'start_probe: exit status {status}: {output[-300:]}')
    try:
        _, after = guest.run('disk_reads')
        yield Probe(int(ready[2], 16), bytes.fromhex(ready[3]),
                    int(after.split()[0]) - int(before.split()[0]))
    finally:
        if guest.runs:
            guest.run('stop_probe')


def testify(guest, setup, command):
    """Runs the probe's COMMAND and returns its Testimony."""
    with started_probe(guest, setup, command) as probe:
        status, output = guest.run(f'look_at_probe {setup.root}', PROBE_SECONDS)
        match = re.search(r'@@maps\n(.*)@@report\n(.*)', output, re.DOTALL)
        report = _parse_report(match[2] if match else '', output)
        _check_mappings(match[1], report)
        found = Testimony(report['machine']['page_bytes'], probe.read_bytes)
        with guest.address_space(probe.cookie_address, probe.cookie) as space:
            if space.page_bytes != found.page_bytes:
                raise Disagreement(f'TCR_EL1 says pages of {space.page_bytes} bytes, '
                                   f'report {found.page_bytes}')
            found.libraries = [_library(space, thing, report['machine'], setup)
                               for thing in report['processes'][0]['objects']
                               if _is_subject(thing)]
    if not found.total('whole_bytes'):
        raise Disagreement('the probe has no library with a whole block')
    return found
