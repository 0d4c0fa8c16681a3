# SPDX-License-Identifier: MIT
"""kernel_cases - what the kernel series must change, and what it must not.

Each case runs on a kernel before the series and on one after it. Before, it asserts that the thing
is not there: otherwise the test could not fail. bench.rows holds what the same case has seen then.
"""
import fnmatch
import re
from itertools import product

import kernel_scenarios as scenarios
from bench import Failure
from cases import PROBE, REAL_LIBRARIES, Case
from kernel_witness import BLOCK_BYTES, PAGE_BYTES, testify
from witness import MIB, Setup

# Least share of whole blocks that the series must bring, by page size and read-ahead. With 4K pages
# there are as many before: a longer read-ahead makes folios that do not begin with a block.
LEAST_AFTER = {('4k', 128): 0.90, ('4k', 8192): 0.70, ('16k', 128): 0.95, ('16k', 8192): 0.95,
               ('64k', 128): 0.95, ('64k', 8192): 0.95}
# What there may be of blocks of 2 MiB before: nothing, but for a library that is one by luck.
MOST_BEFORE = 0.05
# With 4K pages, the series must not cost blocks. What is read ahead is never quite the same.
NOT_BELOW_BY = 0.01


def _libraries(bench, setup):
    """Real and synthetic ones, but none that no kernel can place, and none that places itself.

    Where address and file offset differ by less than a block, the text is off wherever the file
    begins; a library with p_align of 2 MiB is aligned by its loader.
    """
    block, page = BLOCK_BYTES[bench.pages], PAGE_BYTES[bench.pages]
    synthetic = [f'/opt/fixtures/lib/{fixture.file}' for fixture in bench.fixtures
                 if fixture.page_bytes_max >= page and fixture.align_bytes < 2 * MIB
                 and not (fixture.shifted and fixture.align_bytes < block)]
    if setup.libc == 'musl' or setup.touch == 'call':
        return synthetic
    return REAL_LIBRARIES + [library for library in synthetic
                             if not re.search('-(10|40)m-', library)]


def share_case(setup, quick=False):
    """How much of the text one probe has mapped large."""
    name = f'share/{setup.filesystem}/{setup.libc}/ra{setup.read_ahead_kib}/{setup.touch}'

    def run(bench):
        bench.run(f'cold; read_ahead {setup.read_ahead_kib}')
        share = testify(bench, setup, [PROBE[setup.libc], '-t', setup.touch,
                                       *_libraries(bench, setup)])
        bench.figures.append({
            'figure': 'share', 'filesystem': setup.filesystem, 'libc': setup.libc,
            'read_ahead_kib': setup.read_ahead_kib, 'touched': setup.touch,
            'text_bytes': share.text, 'whole_blocks_bytes': share.whole,
            'congruent_bytes': share.congruent, 'contpte_bytes': share.contpte,
            'smaps_contpte_bytes': share.smaps_contpte, 'pmd_bytes': share.pmd,
            'read_bytes': share.read})
        _check_share(bench, name, _least_after(bench, setup), share)
        return f'{share.of_whole_blocks:.1%} of whole blocks'
    return Case(name, setup.filesystem, run, quick)


def _least_after(bench, setup):
    """Where the filesystem has no large folios, the series brings none, and must cost nothing."""
    if not bench.has_large_folios(setup.filesystem):
        return 0.0
    return LEAST_AFTER[bench.pages, setup.read_ahead_kib]


def _check_share(bench, name, least, share):
    seen = share.of_whole_blocks
    if bench.series == 'before':
        bench.rows[name] = seen
        if bench.pages != '4k' and seen >= MOST_BEFORE:
            raise Failure(f'{seen:.1%} of the whole blocks are mapped large before the series: '
                          'the test cannot tell')
        return
    if bench.pages == '4k' and name in bench.rows:
        least = bench.rows[name] - NOT_BELOW_BY
    if seen < least:
        raise Failure(f'{seen:.1%} of the whole blocks are mapped large, should be {least:.1%} or '
                      'more: ' + ', '.join(share.worst))


def _shares():
    """The setups; what make check runs is said in QUICK."""
    for filesystem, libc, touch in product(('ext4', 'xfs'), ('glibc', 'musl'), ('seq', 'random')):
        yield Setup(filesystem, libc, touch=touch)
    for filesystem in ('ext4', 'xfs'):
        yield Setup(filesystem, touch='call')
        yield Setup(filesystem, read_ahead_kib=8192)
        yield Setup(filesystem, read_ahead_kib=8192, touch='random')
    # An overlay has no say in where mappings go, before the series. It is one of bench.home.
    yield Setup('overlay')


QUICK_SHARES = (Setup(), Setup('xfs', 'musl', touch='random'))


def all_cases():
    """Every case, in order."""
    cases = [share_case(setup, setup in QUICK_SHARES) for setup in _shares()]
    for filesystem in ('ext4', 'xfs'):
        for name, function, quick in scenarios.PER_FILESYSTEM:
            cases.append(Case(f'{name}/{filesystem}', filesystem, function(filesystem),
                              quick and filesystem == 'ext4'))
    cases += [Case(name, 'ext4', function, quick) for name, function, quick in scenarios.ONCE]
    return cases


def select(pattern='*', filesystem=None, quick=False):
    """The cases that were asked for. A pattern may be several, with commas between them."""
    return [case for case in all_cases()
            if any(fnmatch.fnmatch(case.name, part) for part in pattern.split(','))
            and (not quick or case.quick) and filesystem in (None, case.filesystem)]
