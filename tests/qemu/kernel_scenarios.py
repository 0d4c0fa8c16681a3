# SPDX-License-Identifier: MIT
"""kernel_scenarios - what the series does beside mapping text large, and what it leaves alone

Each function is called with a Bench (bench.py), raises Failure when something is not as it must be,
and may return a note. What they measure goes into bench.figures.
"""
import math
import re
from collections import Counter

import tlbi
from bench import Failure, Skip
from kernel_witness import BLOCK_BYTES, PAGE_BYTES
from scenarios import FIXTURES, in_root
from witness import KIB, MIB

SERIES = '/opt/series'
TOOLS = '/tools/series'
LARGE_LIBRARY = f'{FIXTURES}/libx-40m-64k-ld.so'
SMALL_LIBRARY = f'{FIXTURES}/libx-300k-64k-ld.so'


def _words(output, first):
    """{name: value} of each line that begins with a word, as our programs print them."""
    return [dict(word.split('=', 1) for word in line.split()[1:])
            for line in output.splitlines() if line.startswith(first + ' ')]


def _line(output, first):
    lines = _words(output, first)
    if not lines:
        raise Failure(f'no line {first}: {output[-300:]}')
    return lines[-1]


def _large_is_special(bench):
    """Whether the contpte block is larger than what any kernel aligns and reads text in."""
    return BLOCK_BYTES[bench.pages] == 2 * MIB


def _brings_blocks(bench, filesystem):
    """Whether text of this filesystem is in blocks after the series, and was not before."""
    return _large_is_special(bench) and bench.has_large_folios(filesystem)


# --- Folios of the page cache

class FolioTable:
    """What a file has in the page cache."""

    def __init__(self, bench, filesystem, path, what):
        output = bench.run(f'{TOOLS}/folios /mnt/{filesystem}{path}', 120)
        self.rows = [tuple(int(words[name]) for name in ('offset', 'bytes', 'order', 'mark'))
                     for words in _words(output, 'FOLIO')]
        bench.figures.append({'figure': 'folios', 'what': what, 'filesystem': filesystem,
                              'file': path, 'folios': self.rows})
        for offset, size, _, _ in self.rows:
            if offset % size:
                raise Failure(f'{what}: a folio of {size} bytes is at {offset}')

    @property
    def bytes(self):
        """All that is cached."""
        return sum(row[1] for row in self.rows)

    def size_at(self, offset):
        """Of the folio there; 0 if nothing is cached."""
        return next((row[1] for row in self.rows if row[0] <= offset < row[0] + row[1]), 0)


def _fault(bench, filesystem, options, path, offset, read_ahead_kib=128):
    bench.run(f'cold; read_ahead {read_ahead_kib}; '
              f'{TOOLS}/fault {options} /mnt/{filesystem}{path} {offset}', 180)


def data_folios(filesystem):
    """A file that is read through a mapping of data from page 17 on: 7.2's series changes nothing.

    Reads ahead 32 pages, as is usual with pages of 4 KiB: larger ones come to leave marks then.
    """
    def run(bench):
        _fault(bench, filesystem, '-n 64 read', LARGE_LIBRARY, '17P',
               32 * PAGE_BYTES[bench.pages] // KIB)
        table = FolioTable(bench, filesystem, LARGE_LIBRARY, 'data, from page 17 on')
        if not table.size_at(17 * PAGE_BYTES[bench.pages]):
            raise Failure('what was touched is not cached')
        if not any(mark for *_, mark in table.rows):
            raise Failure('no folio has the mark of read-ahead')
        before = bench.rows.setdefault(f'folios/{filesystem}', table.rows)
        _check_data(bench, filesystem, before, table.rows)
    return run


def _check_data(bench, filesystem, before, rows):
    """Nothing changes, but that the backports for 6.12 let the folios of a stream grow."""
    if bench.version == '6.12' and bench.has_large_folios(filesystem):
        largest, largest_before = (max(row[1] for row in some) for some in (rows, before))
        if largest < largest_before:
            raise Failure(f'the largest folio has {largest} bytes, before {largest_before}')
    elif before != rows:
        raise Failure(f'the folios are {rows}, before the series {before}')


# What is touched: name, library, offset as a fraction of a block or in bytes; folio size expected
# after the series (None: a block), and how much may be cached beside it.
FIRST_BLOCK = 'text, in the first block'
TEXTS = [
    ('text, in the third block', LARGE_LIBRARY, lambda block: 2 * block + block // 2 + 12345, None),
    (FIRST_BLOCK, LARGE_LIBRARY, lambda block: block // 2 + 100, None),
    ('text of 300 KiB', SMALL_LIBRARY, lambda block: 100 * KIB, 64 * KIB),
]
BESIDE_BYTES_MAX = 192 * KIB
SMALL_PROGRAM_MAX = 256 * KIB


def text_folios(filesystem):
    """One address of a text is touched, after its header was read as a loader does."""
    def run(bench):
        block = BLOCK_BYTES[bench.pages]
        for what, library, offset, expected in TEXTS:
            _fault(bench, filesystem, 'exec', library, offset(block))
            table = FolioTable(bench, filesystem, library, what)
            size = table.size_at(offset(block))
            if not bench.has_large_folios(filesystem):
                expected = PAGE_BYTES[bench.pages]
            elif what == FIRST_BLOCK and not _large_is_special(bench):
                # Reading the header fills more than this block: it is left as it is.
                expected = size
            _check_text(bench, what, table, size, expected or block)
        _small_program(bench, filesystem)
    return run


def _small_program(bench, filesystem):
    """One with 100 KiB of text is run: not much more than that is read of it."""
    bench.run(f'programs_on {filesystem}; cold; read_ahead 128')
    in_root(bench, 'plain', f'{SERIES}/pie-small', filesystem=filesystem)
    table = FolioTable(bench, filesystem, f'{SERIES}/pie-small', 'a program with 100 KiB of text')
    if not 0 < table.bytes <= SMALL_PROGRAM_MAX:
        raise Failure(f'of a program with 100 KiB of text, {table.bytes} bytes are cached')


def _check_text(bench, what, table, size, expected):
    if bench.series == 'before':
        if expected > 64 * KIB and size >= expected:
            raise Failure(f'{what}: a folio of {size} bytes before the series: '
                          'the test cannot tell')
        return
    if size != expected:
        raise Failure(f'{what}: a folio of {size} bytes, should be {expected}: {table.rows}')
    if table.bytes > expected + BESIDE_BYTES_MAX:
        raise Failure(f'{what}: {table.bytes} bytes are cached')


MISSES = 300
# Linux gives up reading around after MMAP_LOTSAMISS (100) misses; here nothing else is touched.
FAR_BYTES = 2 * MIB


def misses(bench):
    """Many faults far apart in one mapping of text: the last is answered as well as the first."""
    bench.run(f'sparse {bench.home} {(MISSES + 2) * FAR_BYTES}')
    first = FAR_BYTES // 2
    _fault(bench, bench.home, f'-n {MISSES} -s {FAR_BYTES} exec', f'{SERIES}/sparse', first)
    table = FolioTable(bench, bench.home, f'{SERIES}/sparse', f'{MISSES} faults')
    bench.figures.pop()
    bench.run(f'rm /mnt/{bench.home}{SERIES}/sparse; cold', 180)
    around = Counter()
    for offset, size, _, _ in table.rows:
        around[offset // FAR_BYTES] += size
    early = Counter(around[number] for number in range(1, 50))
    late = Counter(around[number] for number in range(150, MISSES))
    sizes = Counter(table.size_at(first + number * FAR_BYTES) for number in range(150, MISSES))
    bench.figures.append({'figure': 'misses', 'what': 'cached around a fault',
                          'bytes_of_the_first_50': _said(early), 'bytes_after_150': _said(late),
                          'folios_after_150': _said(sizes)})
    _check_misses(bench, early, late, sizes)


def _said(counter):
    return ', '.join(f'{size // KIB} KiB: {count}' for size, count in sorted(counter.items()))


def _check_misses(bench, early, late, sizes):
    if bench.series == 'before':
        # 6.12 gives up, and reads a page at a time; 7.2 does not count misses in text.
        gives_up = max(late) < min(early)
        if gives_up != (bench.version == '6.12'):
            raise Failure(f'read around at first: {_said(early)}; after 150 misses: {_said(late)}')
        return
    if set(sizes) != {BLOCK_BYTES[bench.pages]}:
        raise Failure(f'after 150 misses, folios are {_said(sizes)}')


# --- In what folios real programs' text is

SYSTEMS = {'boot': 'start_system', 'redis': 'start_redis', 'python3': 'start_python'}
# Least share of their text in folios of 2 MiB after the series, where that is the block. Most of what
# always runs is too small for such a folio.
LEAST_IN_BLOCKS = {'boot': 0.25, 'redis': 0.5, 'python3': 0.5}


def text_sizes(name):
    """For a filesystem: what a started program, or all of them, have mapped."""
    def on(filesystem):
        def run(bench):
            pids = '' if name == 'boot' else '$(cat /tmp/system)'
            bench.run(f'cold; read_ahead 128; {SYSTEMS[name]} {filesystem}; settled', 240)
            try:
                output = bench.run(f'{TOOLS}/textsizes {pids}', 120)
            finally:
                bench.run('end_system')
            figure = _add_up_sizes(_words(output, 'TEXT'))
            bench.figures.append({'figure': 'text sizes', 'what': name, 'filesystem': filesystem,
                                  **figure})
            return _check_sizes(bench, name, filesystem, figure)
        return run
    return on


def _add_up_sizes(lines):
    """Of processes that have started from the same filesystem; what is shared counts each time."""
    folios = Counter()
    for line in lines:
        for pair in filter(None, line['folios'].split(',')):
            size, count = pair.split(':')
            folios[int(size)] += int(count)
    contpte = [line['contpte'] for line in lines]
    return {'processes': len({line['pid'] for line in lines}),
            'mapped_bytes': sum(int(line['mapped']) for line in lines),
            'present_bytes': sum(int(line['present']) for line in lines),
            'contpte_bytes': None if 'unknown' in contpte else sum(map(int, contpte)),
            'pmd_bytes': sum(int(line['pmd']) for line in lines),
            'folios': dict(sorted(folios.items()))}


def _check_sizes(bench, name, filesystem, figure):
    key = f'sizes/{name}/{filesystem}'
    present = figure['present_bytes']
    share = sum(size for bytes_each, size in figure['folios'].items()
                if bytes_each >= BLOCK_BYTES[bench.pages]) / present
    least = max(bench.rows.setdefault(key, share) - 0.01,
                LEAST_IN_BLOCKS[name] if _brings_blocks(bench, filesystem) else 0)
    if bench.series == 'before' and _large_is_special(bench):
        if share > 0.05:
            raise Failure(f'{share:.1%} of the text is in folios of a block before the series: '
                          'the test cannot tell')
    elif share < least:
        raise Failure(f'{share:.1%} of the text is in folios of a block or more, '
                      f'should be {least:.1%} or more')
    return f'{share:.1%} of {present / MIB:.1f} MiB in folios of a block or more'


# --- Where programs and mappings are

# Of 32 starts at addresses that are random in units of a page; one in 32 is a multiple of a block.
STARTS = 32
BY_CHANCE_MAX = 6


def _bases(bench, program, starts, library=''):
    bench.run(f'programs_on {bench.home}', 60)
    output = in_root(bench, 'plain', f'/tools/bin/starts {starts} {SERIES}/{program} {library}',
                     seconds=300, filesystem=bench.home)
    lines = [{name: int(value, 16) for name, value in words.items()}
             for words in _words(output, 'BASES')]
    if len(lines) != starts:
        raise Failure(f'{len(lines)} of {starts} starts: {output[-200:]}')
    return lines


def _aligned(bench, lines, name):
    return sum(line[name] % BLOCK_BYTES[bench.pages] == 0 for line in lines)


def _check_aligned(bench, what, aligned, of, must):
    """must: all are aligned after the series; otherwise not more than by chance."""
    if must and bench.series == 'after':
        if aligned != of:
            raise Failure(f'{what}: {aligned} of {of} are multiples of a block')
    elif aligned > BY_CHANCE_MAX:
        raise Failure(f'{what}: {aligned} of {of} are multiples of a block: not by chance')


# With 4K pages the block is the 64 KiB that every program here is aligned to by itself.
PROGRAMS = {'pie-large': True, 'static-pie-large': True, 'pie-small': False, 'pie-shifted': False}


def programs(bench):
    """Position-independent programs are aligned if their text can be mapped large then."""
    notes = []
    for program, must in PROGRAMS.items():
        lines = _bases(bench, program, STARTS)
        aligned = _aligned(bench, lines, 'program')
        notes.append(f'{program} {aligned} of {STARTS}')
        if _large_is_special(bench):
            _check_aligned(bench, program, aligned, STARTS, must)
        elif aligned < STARTS and must:
            raise Failure(f'{program}: {aligned} of {STARTS} are multiples of a block')
    return ', '.join(notes)


def fixed_program(bench):
    """A program that is not position-independent is where it was linked to be."""
    wrong = [line['program'] for line in _bases(bench, 'exec-large', 4)
             if line['program'] != 0x400000]
    if wrong:
        raise Failure(f'it is at {wrong[0]:#x}')


def libraries(bench):
    """A library with a whole block of text, opened by a program."""
    lines = _bases(bench, 'pie-large', STARTS, f'{FIXTURES}/libtext5m.so')
    aligned = _aligned(bench, lines, 'library')
    if _large_is_special(bench):
        _check_aligned(bench, 'libtext5m.so', aligned, STARTS, True)
    return f'{aligned} of {STARTS}'


def program_32bit(bench):
    """Left alone."""
    raise Skip('the guests have no 32-bit programs: Linux runs them with 4K pages only, and '
               'kernel/config has no COMPAT')


# Kinds of placing.c: those where every address must be as asked for, those that the series aligns,
# and those that it must not.
AS_ASKED = ('text-hint', 'text-fixed', 'text-noreplace', 'reserve-hint', 'reserve-fixed')
ALIGNED = ('text', 'text-offset', 'reserve')
UNTOUCHED = ('text-small', 'reserve-small', 'reserve-stack', 'data-small', 'stack')


def placing(bench):
    """Mappings of many kinds, some of which the series aligns."""
    output = bench.run(f'{TOOLS}/placing {BLOCK_BYTES[bench.pages]} '
                       f'/mnt/{bench.home}{LARGE_LIBRARY}')
    kinds = {words['kind']: {name: int(words[name]) for name in ('times', 'as_asked', 'aligned')}
             for words in _words(output, 'PLACED')}
    for kind in AS_ASKED:
        if kinds[kind]['as_asked'] != kinds[kind]['times']:
            raise Failure(f'{kind}: {kinds[kind]}')
    for kind in (*ALIGNED, *UNTOUCHED):
        # Loaders see to blocks of 64 KiB themselves, so reservations are left alone then.
        must = kind in ALIGNED and (kind != 'reserve' or _large_is_special(bench))
        _check_aligned(bench, kind, kinds[kind]['aligned'], kinds[kind]['times'], must)
    return ', '.join(f"{kind} {kinds[kind]['aligned']}" for kind in (*ALIGNED, *UNTOUCHED))


# --- Entropy of addresses

def entropy(bench):
    """Bases of program and library are as random as blocks allow."""
    starts = 100 if bench.quick else 1000
    page_bits = int(math.log2(PAGE_BYTES[bench.pages]))
    random_bits = int(bench.run('cat /proc/sys/vm/mmap_rnd_bits'))
    lines = _bases(bench, 'pie-large', starts, f'{FIXTURES}/libtext5m.so')
    notes = []
    for name in ('program', 'library'):
        align_bits = _align_bits(bench, name)
        expected = random_bits + page_bits - align_bits
        bases = [line[name] for line in lines]
        notes.append(_check_entropy(bench, name, bases, align_bits, expected))
    return ', '.join(notes)


def _align_bits(bench, name):
    """log2 of what addresses are multiples of: p_align, or a block."""
    if bench.series == 'after' and bench.pages == '4k' and name == 'program':
        # Its text holds a PMD.
        return int(math.log2(2 * MIB))
    if bench.series == 'after' or bench.pages == '4k':
        return int(math.log2(BLOCK_BYTES[bench.pages]))
    # Both have p_align 64 KiB; a loader that reserves keeps to it.
    return 16 if name == 'program' or bench.pages != '4k' else 12


def distinct_expected(draws, bits):
    """How many different values draws of 2^bits give."""
    return 2 ** bits * -math.expm1(draws * math.log1p(-2.0 ** -bits))


def _check_entropy(bench, name, bases, align_bits, expected):
    unit = 1 << align_bits
    if any(base % unit for base in bases):
        raise Failure(f'{name}: not all are multiples of {unit >> 10} KiB')
    distinct = len(set(bases))
    # The range of many uniform draws is all but 2/n of what they are drawn from.
    spread_bits = math.log2((max(bases) - min(bases)) / unit + 1)
    estimated = min(spread_bits, _bits_of_distinct(len(bases), distinct))
    bench.figures.append({'figure': 'entropy', 'what': name, 'starts': len(bases),
                          'distinct': distinct, 'align_kib': unit >> 10, 'expected_bits': expected,
                          'estimated_bits': estimated})
    least = distinct_expected(len(bases), expected - 1)
    if distinct < least - 3 * math.sqrt(len(bases) - least + 1) or spread_bits < expected - 1:
        raise Failure(f'{name}: {distinct} bases in {len(bases)} starts, spread over '
                      f'{spread_bits:.1f} bits; {expected} bits were expected')
    return f'{name} {distinct} distinct, {estimated:.1f} bits of {expected}'


def _bits_of_distinct(draws, distinct):
    """From how many values these were drawn; infinite when there was no repetition to tell from."""
    if distinct == draws:
        return math.inf
    low, high = 0.0, 48.0
    while high - low > 0.01:
        middle = (low + high) / 2
        low, high = (middle, high) if distinct_expected(draws, middle) < distinct else (low, middle)
    return low


# --- Nothing else is harmed

def storm(bench):
    """Threads write to what a fork has made read-only; nobody reads anything old."""
    rounds, pages = 40, 512
    for options in (f'{rounds} {pages} 2', f'-k {rounds} {pages} 2'):
        status, output = bench.guest.run(f'{TOOLS}/storm {options}', 240)
        words = _line(output, 'STORM')
        if status or words['wrong'] != '0' or words['late'] != '0':
            raise Failure(f'storm {options}: exit status {status}: {words}')
        # Without faults by the writes, nothing was tried.
        if int(words['minor']) < rounds * pages:
            raise Failure(f'storm {options}: only {words["minor"]} faults')


def broadcasts(bench):
    """TLBIs to all CPUs by write faults that make a page writable where it is: next to none.

    One for each is what 6.12 does; 7.2 has learned better.
    """
    try:
        with tlbi.Counter(tlbi.made(bench.artefacts)) as counter, \
                bench.boot(options=counter.options) as counting:
            counts = counter.count(counting.guest, tlbi.storm())
    except tlbi.CountError as error:
        raise Failure(str(error)) from None
    counts['pages_written'] = counts.pop('pages')
    seen, faults = tlbi.broadcasts(counts), counts['faults']
    bench.figures.append({'figure': 'tlbi', 'what': 'broadcast by write faults',
                          'broadcasts': seen, **counts})
    if not faults:
        raise Failure(f'no faults: {counts}')
    if bench.version == '6.12' and bench.series == 'before':
        if seen < faults:
            raise Failure(f'{seen} broadcasts in {faults} faults before the series: '
                          'the test cannot tell')
    elif seen > faults / 10:
        raise Failure(f'{seen} broadcasts in {faults} faults')
    return f'{seen} broadcasts in {faults} faults'


# Size, and what it is truncated to.
SHORTENED = (('5000100', '2600100'), ('6M', '4100K'), ('8000000', '100'))


def sigbus(filesystem):
    """A file shrinks under a mapping of text: SIGBUS behind its end, and only there."""
    def run(bench):
        bench.run(f'writable {filesystem}')
        for size, new_size in SHORTENED:
            status, output = bench.guest.run(
                f'{TOOLS}/shorten /mnt/{filesystem}{SERIES}/shortened {size} {new_size}', 120)
            words = _line(output, 'SHORTEN')
            if status or int(words['sigbus']) == 0:
                raise Failure(f'{size} to {new_size}: exit status {status}: {output[-300:]}')
    return run


# --- Memory pressure

LIMIT = '64M'
PRESSED = ('/tools/bin/probe -q -t {} /usr/lib/aarch64-linux-gnu/libLLVM.so.19.1 '
           '/usr/lib/aarch64-linux-gnu/libclang-cpp.so.19.1')
# How many times the bytes, faults and seconds that it takes without a limit, one of about a third
# of the text may cost. In order, what is read is used before it goes; at random, it may go before.
# SECONDS_FREE: guests share a machine with others.
BYTES_RATIO_MAX = {'seq': 2.5, 'random': 8}
FAULTS_PER_WINDOW_MAX = {'seq': 2, 'random': 8}
SECONDS_RATIO_MAX = {'seq': 4, 'random': 8}
SECONDS_FREE = 5
SCANNED_PER_READ_MAX = 4
WORSE_RATIO_MAX = 1.25


def _limited(bench, limit, touch):
    bench.run('cold; read_ahead 128')
    before = int(bench.run('disk_reads').split()[0])
    output = bench.run(f'limited {limit} {bench.home} {PRESSED.format(touch)}', 300)
    words = _line(output.replace('@@limited', 'LIMITED'), 'LIMITED')
    stat = dict(line.split() for line in output.split('@@limited')[1].splitlines()[1:])
    seen = {name: int(stat[name]) for name in ('event_oom_kill', 'pgscan', 'pgsteal', 'pgmajfault',
                                              'workingset_refault_file')}
    seen |= {'status': int(words['status']),
             'read_bytes': int(bench.run('disk_reads').split()[0]) - before,
             'seconds': float(words['ended']) - float(words['began'])}
    bench.figures.append({'figure': 'pressure', 'what': f'{touch}, memory.max={limit}', **seen})
    return seen


# What the host does meanwhile takes time, too, but not each time.
TRIES = 3


def pressure(touch):
    """Text of more than twice a memory cgroup's limit is gone through."""
    def run(bench):
        free = _limited(bench, 'max', touch)
        for _ in range(TRIES):
            limited = _limited(bench, LIMIT, touch)
            if limited['seconds'] <= _seconds_max(bench, touch, free):
                break
        if limited['status'] or limited['event_oom_kill']:
            raise Failure(f'it does not end well: {limited}')
        if bench.series == 'before':
            bench.rows[f'pressure/{touch}'] = limited
        else:
            _check_pressure(bench, touch, free, limited)
        return (f"{limited['read_bytes'] / MIB:.0f} MiB read in {limited['seconds']:.1f} s, without "
                f"the limit {free['read_bytes'] / MIB:.0f} in {free['seconds']:.1f}")
    return run


def _before(bench, touch):
    """The same on the kernel without the series, if that has run; else all is 0."""
    return bench.rows.get(f'pressure/{touch}', Counter())


def _seconds_max(bench, touch, free):
    return max(SECONDS_FREE + SECONDS_RATIO_MAX[touch] * free['seconds'],
               WORSE_RATIO_MAX * _before(bench, touch)['seconds'])


def _check_pressure(bench, touch, free, limited):
    """No storm, and not much worse than the kernel was before, if that is known and bad."""
    before = _before(bench, touch)
    pages_read = limited['read_bytes'] / PAGE_BYTES[bench.pages]
    # Compared with a kernel that reads 128 KiB for a fault, as all do without the series.
    windows = free['read_bytes'] / (128 * KIB)
    limits = {'pgscan': SCANNED_PER_READ_MAX * pages_read,
              'pgmajfault': FAULTS_PER_WINDOW_MAX[touch] * windows,
              'read_bytes': BYTES_RATIO_MAX[touch] * free['read_bytes']}
    for name, limit in limits.items():
        _at_most(name, limited[name], max(limit, WORSE_RATIO_MAX * before[name]))
    _at_most('seconds', limited['seconds'], _seconds_max(bench, touch, free))


def _at_most(what, seen, limit):
    if seen > limit:
        raise Failure(f'{what}: {seen:.0f}, should be at most {limit:.0f}')


# --- The kernel's own test

# As kselftest.h prints it: of a test that was skipped, name and reason stand behind the directive.
TAP_LINE = re.compile(r'(not )?ok \d+ (# SKIP )?(.*)')
KSELFTEST_SECONDS = 300


def kselftest(filesystem):
    """tools/testing/selftests/mm/exec_folio of the series; each of its tests counts."""
    def run(bench):
        program = f'/tools/kselftest-{bench.version}/exec_folio'
        if bench.guest.run(f'test -x {program}')[0]:
            raise Skip(f'kernel/{bench.version} has no tools/testing/selftests/mm/exec_folio.c')
        # Before, nothing tells it of blocks.
        block = f'-b {BLOCK_BYTES[bench.pages] // KIB}' if bench.series == 'before' else ''
        status, output = bench.guest.run(
            f'writable {filesystem}; cold; read_ahead 128; '
            f'{program} {block} /mnt/{filesystem}{SERIES}', KSELFTEST_SECONDS)
        matches = map(TAP_LINE.fullmatch, output.splitlines())
        parts = [_tap_part(*match.groups()) for match in matches if match]
        if not parts:
            raise Failure(f'exit status {status}: {output[-300:]}')
        return _judge_kselftest(bench, filesystem, parts)
    return run


def _tap_part(wrong, skip, words):
    """(outcome, name, note); the test says "name: why"."""
    name, _, why = words.partition(': ')
    return 'SKIP' if skip else 'FAIL' if wrong else 'PASS', name, why


def _judge_kselftest(bench, filesystem, parts):
    if bench.series == 'after':
        return parts
    failed = [name for outcome, name, _ in parts if outcome == 'FAIL']
    if not failed and _brings_blocks(bench, filesystem):
        raise Failure('nothing fails before the series: the test cannot tell')
    return f"before the series, {len(failed)} of {len(parts)} fail: {', '.join(failed)}"


# --- The lists: name, function, whether make check runs it

PER_FILESYSTEM = [
    ('folios/data', data_folios, False),
    ('folios/text', text_folios, True),
    ('sizes/boot', text_sizes('boot'), False),
    ('sizes/redis', text_sizes('redis'), False),
    ('sizes/python3', text_sizes('python3'), False),
    ('sigbus', sigbus, True),
    ('kselftest', kselftest, False),
]

ONCE = [
    ('place/programs', programs, True),
    ('place/fixed-program', fixed_program, True),
    ('place/libraries', libraries, True),
    ('place/32-bit', program_32bit, False),
    ('place/mappings', placing, True),
    ('place/entropy', entropy, True),
    ('misses', misses, True),
    ('storm', storm, False),
    ('pressure/seq', pressure('seq'), True),
    ('pressure/random', pressure('random'), False),
    # Last: it has a guest of its own, in which every instruction is looked at.
    ('broadcasts', broadcasts, False),
]
