# SPDX-License-Identifier: MIT
"""cases - what is asked of a guest, and what must come of it.

A case is a name and a function that is called with a Bench: it raises Failure when something is not
as it must be, and returns a row for the matrix (a tuple), a note (a string), outcomes of parts (a
list of PASS, FAIL or SKIP, a name and a note) or None.
"""
import fnmatch
import re
from dataclasses import dataclass, replace
from itertools import product
from typing import Callable

import patched_scenarios
import scenarios
from artefacts import USERLANDS
from bench import Failure
from witness import KIB, MIB, Setup, testify

PROBE = {'glibc': '/tools/bin/probe', 'musl': '/tools/bin/probe-musl'}
PROBE_NEEDED = {'glibc': '/tools/bin/probe-needed', 'musl': '/tools/bin/probe-needed-musl'}
LIBDIR = '/usr/lib/aarch64-linux-gnu'
# Real libraries, as Debian builds them. libLLVM has most of their text.
REAL_LIBRARIES = [f'{LIBDIR}/{name}' for name in (
    'libLLVM.so.19.1', 'libcrypto.so.3', 'libstdc++.so.6', 'libsqlite3.so.0')]


@dataclass(frozen=True)
class Case:
    """See above. Quick ones are the part that make check runs."""
    name: str
    filesystem: str
    function: Callable
    quick: bool = False
    userland: str | None = None  # that it needs beside the usual one


# --- The matrix: one probe per row

def _libraries(bench, setup):
    """What the probe opens: all layouts to call through, real libraries and some to touch.

    musl has no real libraries here; its programs are small.
    """
    page_bytes = int(bench.pages[:-1]) * KIB
    synthetic = [f'/opt/fixtures/lib/{fixture.file}' for fixture in bench.fixtures
                 if fixture.page_bytes_max >= page_bytes
                 and not _unplaceable(fixture, setup.method)]
    if setup.touch == 'call' or setup.libc == 'musl':
        return synthetic
    return REAL_LIBRARIES + [library for library in synthetic if '-10m-' not in library]


def _unplaceable(fixture, method):
    """Address and offset apart by a page: where the filesystem aligns, no place is congruent.

    No p_align makes any congruent that are apart by less than a block.
    """
    return fixture.shifted and \
        fixture.align_bytes < (2 * MIB if method == 'aligned' else 64 * KIB)


def _command(bench, setup):
    """Program and arguments, by where the libraries are to come from."""
    command = [PROBE[setup.libc], '-t', setup.touch]
    libraries = _libraries(bench, setup)
    if setup.start == 'mmap':
        return command + [word for library in libraries for word in ('-m', library)]
    if setup.start == 'startup':
        return [PROBE_NEEDED[setup.libc], '-t', setup.touch]
    return command + libraries


def _prepare(bench, setup):
    if setup.cache == 'cold':
        bench.run('cold')
    else:
        bench.run(f"warm_small {setup.root} {' '.join(_libraries(bench, setup))}", 120)
    bench.run(f'read_ahead {setup.read_ahead_kib}')


def _places(setup):
    """Whether the libraries get placed: by the loader, or by the shim where it is asked."""
    if setup.method in ('audit', 'preload'):
        # musl's loader asks nobody.
        return setup.libc == 'glibc' or setup.start == 'mmap'
    # musl does not honour p_align, and a program's own mmap knows nothing of it.
    return setup.method == 'patched' or \
        setup.method == 'aligned' and setup.libc == 'glibc' and setup.start != 'mmap'


def _least_share(bench, setup):
    """Share of the whole blocks that must be mapped large, or None where none is promised."""
    if not _places(setup) or setup.method == 'aligned':
        return None
    if not bench.advised or setup.cache != 'cold' or setup.advise != 'auto':
        return None
    if setup.filesystem == 'ext4' and setup.read_ahead_kib == 128:
        return 0.97
    return 0.90


def _check_congruent(bench, setup, found):
    """Everything that is eligible is placed, whatever folios there are."""
    if not _places(setup):
        return
    unplaceable = {fixture.file for fixture in bench.fixtures
                   if _unplaceable(fixture, setup.method)}
    misplaced = [library.path for library in found.libraries if library.congruent is False
                 and library.path.rsplit('/', 1)[1] not in unplaceable]
    if misplaced:
        raise Failure(f"misplaced: {' '.join(misplaced)}")


def _check_shares(bench, setup, found):
    least = _least_share(bench, setup)
    if setup.method == 'preload' and setup.start == 'startup' and \
            found.total('whole_bytes') - found.total('large_bytes') <= 2 * MIB:
        # What is still being read ahead before the exec cannot be dropped: a block, now and then.
        return
    if least is not None and found.share_of_whole_blocks < least:
        raise Failure(f'{found.share_of_whole_blocks:.1%} of the whole blocks are mapped large, '
                      f'should be {least:.0%} or more: ' + _worst(found))
    if bench.version == '7.2' and bench.pages == '4k' and setup.method in ('audit', 'patched') and \
            setup.cache == 'cold' and setup.start == 'dlopen' and setup.advise == 'auto':
        _check_pmd_entries(found)
    if setup.method == 'thp' and bench.pages != '4k' and found.total('large_bytes'):
        raise Failure(f"glibc.elf.thp maps {found.total('large_bytes')} bytes large: not expected")
    # Before 7.2 report gives another reason: no large folios, or no advice.
    if setup.cache == 'small' and _places(setup) and bench.version != '6.12':
        _check_small_folios_named(found, _libraries(bench, setup))


def _check_pmd_entries(found):
    """With 4K pages, what is judged by 2 MiB is mapped by PMD entries, all but a block in twenty."""
    large = [library for library in found.libraries if library.judged_block_bytes == 2 * MIB]
    whole = sum(library.judged_whole_bytes for library in large)
    mapped = sum(library.block_bytes for library in large)
    if not large or mapped < 0.95 * whole:
        raise Failure(f'{mapped / MIB:.0f} of {whole / MIB:.0f} MiB are mapped by PMD entries: '
                      + _worst(found))


def _worst(found):
    """The libraries that lack most."""
    lacking = sorted(found.libraries, key=lambda library: library.large_bytes - library.whole_bytes)
    return ', '.join(f'{library.path} {library.large_bytes // KIB} of '
                     f'{library.whole_bytes // KIB} KiB ({library.reason})'
                     for library in lacking[:3])


def _check_small_folios_named(found, warmed):
    """Links have been followed by those who say where a library is: names are compared."""
    names = {path.rsplit('/', 1)[1] for path in warmed}
    unnamed = [library.path for library in found.libraries
               if library.path.rsplit('/', 1)[1] in names
               and library.judged_block_bytes and library.reason != 'small-folios'
               and library.large_bytes < library.whole_bytes]
    if unnamed:
        raise Failure(f"report does not name small folios as the reason: {' '.join(unnamed)}")


def _check_no_harm(bench, setup, found):
    """Compared with the same row by Debian's loaders and without the shim, which ran before."""
    plain = bench.rows.get(replace(setup, method='plain'))
    if setup.method in ('plain', 'thp', 'aligned') or setup.advise != 'auto':
        return
    if not plain:
        raise Failure('there is nothing to compare with: the plain row has failed')
    # Where musl's loader puts a library by itself is chance, with the shim and without.
    if found.share_of_text < plain.share_of_text and _places(setup):
        raise Failure(f'{found.share_of_text:.2%} of the text is mapped large, '
                      f'in the plain row {plain.share_of_text:.2%}')
    if setup.read_ahead_kib == 128 and found.read_bytes > 1.3 * plain.read_bytes:
        raise Failure(f'reads {found.read_bytes / MIB:.1f} MiB, '
                      f'in the plain row {plain.read_bytes / MIB:.1f} MiB')


def probe_case(setup, quick=False):
    """A row of the matrix."""
    def run(bench):
        _prepare(bench, setup)
        found = testify(bench.guest, setup, _command(bench, setup))
        bench.rows[setup] = found
        _check_congruent(bench, setup, found)
        _check_shares(bench, setup, found)
        _check_no_harm(bench, setup, found)
        return setup, found
    return Case('probe/' + setup.name(), setup.filesystem, run, quick,
                setup.method if setup.method in USERLANDS else None)


def _matrix(version):
    """Setups, in an order in which each comes after the plain one that it is compared with."""
    methods = ('plain', 'audit', 'preload')
    # 6.12 is there for "no harm": fewer rows.
    touches = ('seq', 'random', 'call') if version == '7.2' else ('seq', 'random')
    read_aheads = (128, 8192) if version == '7.2' else (128,)
    for filesystem, ahead, touch, method in product(('ext4', 'xfs'), read_aheads, touches, methods):
        if method != 'preload' or touch == touches[-1]:
            yield Setup(filesystem, method=method, read_ahead_kib=ahead, touch=touch)
    for filesystem, ahead, method in product(('ext4', 'xfs'), read_aheads, methods):
        yield Setup(filesystem, method=method, read_ahead_kib=ahead, start='startup')
    for filesystem, method in product(('ext4', 'xfs'), methods):
        yield Setup(filesystem, method=method, cache='small')
    for filesystem, method in product(('erofs', 'overlay'), methods):
        yield Setup(filesystem, method=method)
    for filesystem, start, method in product(('ext4', 'xfs'), ('dlopen', 'mmap'),
                                             ('plain', 'preload')):
        yield Setup(filesystem, 'musl', method, start=start)
    for ahead, touch in product(read_aheads, touches):
        if version == '7.2':
            yield Setup(method='audit', read_ahead_kib=ahead, touch=touch, advise='hugepage')
    for filesystem in ('ext4', 'xfs'):
        yield Setup(filesystem, method='thp')
    for filesystem, start in product(('ext4', 'xfs', 'overlay'), ('dlopen', 'startup')):
        yield Setup(filesystem, method='aligned', start=start)
    yield from _patched_matrix(touches, read_aheads)


def _patched_matrix(touches, read_aheads):
    """The auditor's rows by the patched loaders, of both libcs, and what they are compared with."""
    for libc in ('glibc', 'musl'):
        plain = [Setup(filesystem, libc, read_ahead_kib=ahead, touch=touch)
                 for filesystem, ahead, touch in product(('ext4', 'xfs'), read_aheads, touches)]
        plain += [Setup(filesystem, libc, read_ahead_kib=ahead, start='startup')
                  for filesystem, ahead in product(('ext4', 'xfs'), read_aheads)]
        plain += [Setup(filesystem, libc, cache='small') for filesystem in ('ext4', 'xfs')]
        plain.append(Setup('overlay', libc))
        for setup in plain:
            yield setup
            yield replace(setup, method='patched')


def _is_quick(setup):
    return setup in (Setup(), Setup(method='audit'), Setup(touch='call'),
                     Setup(method='preload', touch='call'), Setup('xfs'), Setup('xfs', method='audit'),
                     Setup(start='startup'), Setup(method='preload', start='startup'))


# --- execalign prime

PRIMED_SHARE_MIN = 0.95
# Where prime does not help: headers, and the command itself from a cold cache, with python3 for another
# user. The text is ten times as much.
UNPRIMED_READ_BYTES_MAX = 16 * MIB


def prime_case(filesystem, cache, user='', quick=False, method='audit'):
    """A first start after execalign prime, placed but not advised: what is large is prime's doing."""
    setup = Setup(filesystem, method=method, cache=cache, advise='never')

    def run(bench):
        _prepare(bench, setup)
        useful = (bench.version, bench.pages) != ('6.12', '16k') and \
            bench.has_large_folios(bench.home if filesystem == 'overlay' else filesystem)
        # libLLVM needs libz3.
        primed, read_bytes = scenarios.prime(
            bench, setup.root, [*_libraries(bench, setup), f'{LIBDIR}/libz3.so.4'], user)
        if useful:
            _check_primed(bench, primed, user)
        else:
            _check_not_primed(primed, read_bytes)
        found = testify(bench.guest, setup, _command(bench, setup))
        _check_congruent(bench, setup, found)
        if not useful:
            return f'{read_bytes} bytes read'
        # Before 6.18 only blocks of 2 MiB can be primed.
        if bench.version == '7.2' and found.share_of_whole_blocks < PRIMED_SHARE_MIN:
            raise Failure(f'{found.share_of_whole_blocks:.1%} of the whole blocks are mapped large: '
                          + _worst(found))
        if bench.pages == '4k':
            _check_pmd_entries(found)
        return (f'{found.share_of_whole_blocks:.1%} of whole blocks, '
                f'{read_bytes / MIB:.1f} MiB read by prime')
    name = f'prime/{filesystem}/{cache}' + ('/nobody' if user else '') + \
        ('/aligned' if method == 'aligned' else '')
    return Case(name, filesystem, run, quick, method if method in USERLANDS else None)


def _reason_codes(primed):
    """Why blocks of 2 MiB are not in one folio each, as prime says; None where they are."""
    return {thing['reason'] and thing['reason']['code'] for thing in primed['files']
            if thing['block_bytes'] == 2 * MIB}


def _check_primed(bench, primed, user):
    """What prime says of itself; the page table is asked afterwards."""
    # In what folios blocks of 64 KiB are, which it primes since 6.18, only root can see.
    answers = ('yes', 'unknown') if user and bench.pages == '4k' else ('yes',)
    if _reason_codes(primed) != {None} or \
            bench.version == '7.2' and primed['primed'] not in answers:
        raise Failure(f"primed: {primed['primed']}: " + ', '.join(
            f"{thing['path']}: {thing['reason']}" for thing in primed['files'] if thing['reason']))


def _check_not_primed(primed, read_bytes):
    """Where it does not help, nothing is read."""
    codes = _reason_codes(primed)
    if not codes <= {'old-kernel', 'filesystem'} or read_bytes > UNPRIMED_READ_BYTES_MAX:
        raise Failure(f'reads {read_bytes} bytes where it does not help, reasons: {codes}')


# --- The list

SCENARIOS = [
    # function, quick
    (scenarios.promotion, True),
    (scenarios.static_tls, True),
    (scenarios.dlopen_from_threads, False),
    (scenarios.address_limit, False),
    (scenarios.static_program, False),
    (scenarios.randomness, False),
    (scenarios.executed_samples, True),
]

PATCHED_SCENARIOS = [patched_scenarios.userland, patched_scenarios.layouts,
                     patched_scenarios.switches]


def _scenario_case(function, quick):
    return Case('scenario/' + function.__name__.replace('_', '-'), 'ext4', function, quick=quick)


def _scenario_cases():
    for function, quick in SCENARIOS:
        yield _scenario_case(function, quick)
    for name, filesystem in product(scenarios.APPLICATIONS, ('ext4', 'overlay')):
        yield Case(f'application/{filesystem}/{name}', filesystem,
                   scenarios.application(name, filesystem))
    for filesystem, cache in product(('ext4', 'xfs', 'overlay'), ('cold', 'small')):
        yield prime_case(filesystem, cache, quick=(filesystem, cache) == ('ext4', 'cold'))
    yield prime_case('ext4', 'small', scenarios.AS_NOBODY)
    # Neither the shim nor a patched loader: files and the page cache alone.
    for filesystem in ('ext4', 'xfs', 'overlay'):
        yield prime_case(filesystem, 'cold', method='aligned')
    for function in PATCHED_SCENARIOS:
        yield Case('patched/' + function.__name__, 'ext4', function, userland='patched')
    # Last: it has a guest of its own, and Debian's kernels do not answer for minutes after they have
    # been idle for as long as it takes.
    yield replace(_scenario_case(scenarios.start_instructions, False), userland='patched')


def all_cases(version):
    """Every case for a kernel of this version, in order."""
    # Some rows are compared with more than one other: each once.
    probes = [probe_case(setup, _is_quick(setup)) for setup in dict.fromkeys(_matrix(version))]
    return probes + list(_scenario_cases())


def select(cases, pattern='*', filesystem=None, quick=False):
    """The cases that were asked for. A probe brings the plain one that it is compared with."""
    chosen = [case for case in cases
              if fnmatch.fnmatch(case.name, pattern) and (not quick or case.quick)
              and filesystem in (None, case.filesystem)]
    needed = {re.sub('/(audit|preload|patched)/', '/plain/', case.name).removesuffix('/hugepage')
              for case in chosen}
    return [case for case in cases if case in chosen or case.name in needed]
