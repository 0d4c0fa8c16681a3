#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py - run the cases in arm64 guests with 4K, 16K and 64K pages, and write the matrix

Usage: check.py [options]; see --help. Prints a line per case (PASS, FAIL or SKIP), the matrix, and
last "N passed, N failed, N skipped". Exit: 0 nothing failed, 1 something did, 2 cannot run.
"""
import argparse
import fnmatch
import os
import shutil
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import cases
import matrix
from artefacts import ArtefactError, Artefacts, Unavailable
from bench import Bench, Failure, Skip, read_fixtures
from gdbstub import GdbError
from machine import Guest, GuestError, QEMU
from pagetable import WalkError
from witness import Disagreement

# Debian has no 64K kernel; ours is built of the newer source only.
MACHINES = [('7.2', '64k'), ('7.2', '16k'), ('7.2', '4k'), ('6.12', '16k'), ('6.12', '4k')]
QUICK_MACHINES = [('7.2', '64k'), ('7.2', '16k'), ('7.2', '4k')]
DISK_ROOM_BYTES = 12 << 30
GUESTS_AT_A_TIME = 2
# A case that takes longer has failed, and its guest is given up.
CASE_SECONDS = 400
# tests/run.sh's "skipped".
EXIT_SKIPPED = 77


class Results:
    """Counts and prints, one line at a time."""

    def __init__(self):
        self._lock = threading.Lock()
        self.passed = self.failed = self.skipped = 0
        self.rows = []
        self.figures = []

    def add(self, outcome, name, note=''):
        """outcome: PASS, FAIL or SKIP."""
        with self._lock:
            self.passed += outcome == 'PASS'
            self.failed += outcome == 'FAIL'
            self.skipped += outcome == 'SKIP'
            print(f'{outcome} {name}' + (f' - {note}' if note else ''), flush=True)

    def add_row(self, version, pages, row):
        """A row of the matrix: a Setup and its Testimony."""
        with self._lock:
            self.rows.append((version, pages, *row))

    def add_figures(self, version, pages, series, figures):
        """What scenarios measured."""
        where = {'kernel': version, 'pages': pages, **({'series': series} if series else {})}
        with self._lock:
            self.figures += [{**where, **figure} for figure in figures]


class Session:
    """One kernel: boots guests as needed and runs cases in them.

    series: see Artefacts.kernel(). rows, quick: what they are in a Bench.
    """

    def __init__(self, artefacts, version, pages, results, series=None, rows=None, quick=False):
        self._artefacts, self._results = artefacts, results
        self._version, self._pages, self._series = version, pages, series
        self._quick = quick
        self._guests = []
        self._bench_made = None
        self._rows = {} if rows is None else rows
        self._aborted = False
        self._userlands = ()

    def run(self, chosen):
        """Runs the cases; a guest that failed is replaced by a new one for the next."""
        self._userlands = userlands_of(chosen)
        try:
            for case in chosen:
                if not self._aborted:
                    self._run_case(case)
        finally:
            self._end_guests()

    def abort(self):
        """From another thread: no further case, and the one that runs fails at once."""
        self._aborted = True
        for guest in self._guests:
            guest.kill()

    def _run_case(self, case):
        name = '/'.join(filter(None, (self._version, self._pages, self._series, case.name)))
        began = time.monotonic()
        try:
            bench = self._bench()
            bench.guest.deadline = began + CASE_SECONDS
            outcome = case.function(bench)
        except Skip as skip:
            self._results.add('SKIP', name, str(skip))
        except (Failure, Disagreement, WalkError, GdbError) as failure:
            self._results.add('FAIL', name, str(failure))
        except (GuestError, ArtefactError, KeyError, ValueError, TypeError, ArithmeticError,
                OSError) as failure:
            # The guest's, or a mistake: the case's own, or a report without what it must have.
            self._results.add('FAIL', name, f'{type(failure).__name__}: {failure}')
            self._end_guests()
        else:
            self._results.add('PASS', name, self._note(outcome, time.monotonic() - began))
            for part in outcome if isinstance(outcome, list) else ():
                self._results.add(part[0], f'{name}/{part[1]}', part[2])
            if isinstance(outcome, tuple):
                self._results.add_row(self._version, self._pages, outcome)
        if self._bench_made:
            # Measured is measured, whatever it was judged to be.
            self._results.add_figures(self._version, self._pages, self._series,
                                      self._bench_made.figures)
            self._bench_made.figures.clear()

    @staticmethod
    def _note(outcome, seconds):
        """A row of the matrix speaks for itself; other cases may say something."""
        if isinstance(outcome, tuple):
            outcome = f'{outcome[1].share_of_whole_blocks:.1%} of whole blocks'
        return (f'{outcome}, ' if isinstance(outcome, str) else '') + f'{seconds:.1f} s'

    def _bench(self):
        if not self._bench_made:
            self._bench_made = self._boot()
        return self._bench_made

    def _boot(self, icount=False, options=()):
        kernel = self._artefacts.kernel(self._version, self._pages, self._series)
        images = self._artefacts.images(self._userlands)
        guest = Guest(os.path.join(kernel, 'Image'), self._artefacts.initrd(kernel), images,
                      icount=icount, options=options)
        self._guests.append(guest)
        if self._bench_made:
            guest.deadline = self._bench_made.guest.deadline
        if self._aborted:
            raise GuestError('interrupted', '')
        bench = Bench(guest, self._version, self._pages,
                      read_fixtures(self._artefacts.fixtures()), self._rows, boot=self._boot,
                      artefacts=self._artefacts, series=self._series, quick=self._quick)
        for command in mounts(images, bench.home):
            status, output = guest.run(command)
            if status:
                raise GuestError(f'{command} fails', output)
        return bench

    def _end_guests(self):
        for guest in self._guests:
            guest.close()
        self._guests.clear()
        self._bench_made = None


def userlands_of(chosen):
    """The userlands beside the usual one that the cases need."""
    return tuple(sorted({case.userland for case in chosen if case.userland}))


def mounts(images, home):
    """Commands that mount all of the images, each at /mnt/NAME, and overlays of home."""
    commands = []
    for name in images:
        filesystem, *userland = name.split('-')
        commands.append(f'mount_image {name} {filesystem}')
        if filesystem == home:
            commands.append(f"mount_overlay {'-'.join(['overlay', *userland])} {name}")
    return commands


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', default='build', help='build directory')
    parser.add_argument('--pages', default='*', help='4k, 16k or 64k')
    parser.add_argument('--kernel', default='*', help='7.2 or 6.12')
    parser.add_argument('--fs', help='ext4, xfs, erofs or overlay')
    parser.add_argument('--case', default='*', help='pattern of case names')
    parser.add_argument('--quick', action='store_true', help='the part that make check runs')
    parser.add_argument('--parts-only', action='store_true',
                        help='only fetch and build what guests are made of')
    parser.add_argument('--json', help='file for the results')
    parser.add_argument('--markdown', help='file for the matrix')
    return parser.parse_args()


def check_host(artefacts):
    """What a run cannot do without."""
    if not shutil.which(QEMU):
        raise Unavailable(f'no {QEMU}; install qemu-system-arm')
    os.makedirs(artefacts.cache, exist_ok=True)
    free = shutil.disk_usage(artefacts.cache).free
    if free < DISK_ROOM_BYTES:
        raise Unavailable(f'{free >> 30} GiB free in {artefacts.cache}, {DISK_ROOM_BYTES >> 30} '
                            'needed; make room or set EXECALIGN_QEMU_CACHE')


def choose(options):
    """[(version, pages, cases)] of the command line."""
    chosen = []
    for version, pages in QUICK_MACHINES if options.quick else MACHINES:
        if fnmatch.fnmatch(version, options.kernel) and fnmatch.fnmatch(pages, options.pages):
            some = cases.select(cases.all_cases(version), options.case, options.fs, options.quick)
            if some:
                chosen.append((version, pages, some))
    if not chosen:
        raise ArtefactError('no case is so; --help has the options, cases.py the names')
    return chosen


def long_build(artefacts, results, version, pages, series=None, target='qemu-parts'):
    """Whether a kernel is ours and not built yet: not by the way, but in CI; it takes minutes."""
    if not series and pages != '64k' or os.environ.get('CI') or \
            artefacts.kernel_is_cached(version, pages, series):
        return False
    results.add('SKIP', '/'.join(filter(None, (version, pages, series))),
                f'the kernel is not built yet; make {target} builds it, some minutes')
    return True


def interrupt(number, _):
    """An interrupted run ends by way of an exception, so that everything is cleaned up."""
    signal.signal(number, signal.SIG_IGN)
    print('check-qemu: interrupted', file=sys.stderr)
    sys.exit(2)


def end_by_exception():
    """Whichever signal comes."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, interrupt)


def run_all(artefacts, groups):
    """Runs groups of (session, cases), each in a thread; when interrupted, ends what was started."""
    def run_group(group):
        for session, some in group:
            session.run(some)

    with ThreadPoolExecutor(GUESTS_AT_A_TIME) as pool:
        runs = [pool.submit(run_group, group) for group in groups]
        try:
            for run in runs:
                run.result()
        except BaseException:
            artefacts.abort()
            for group in groups:
                for session, _ in group:
                    session.abort()
            raise


def main():
    """See above."""
    options = parse_arguments()
    end_by_exception()
    artefacts, results = Artefacts(options.build), Results()
    try:
        check_host(artefacts)
        chosen = choose(options)
        if options.quick:
            chosen = [one for one in chosen if not long_build(artefacts, results, *one[:2])]
        artefacts.images(userlands_of([case for *_, some in chosen for case in some]))
        for version, pages, _ in chosen:
            artefacts.kernel(version, pages)
        if options.parts_only:
            return 0
        run_all(artefacts, [[(Session(artefacts, version, pages, results), some)]
                            for version, pages, some in chosen])
    except ArtefactError as error:
        # In CI nothing may be missing.
        if options.quick and isinstance(error, Unavailable) and not os.environ.get('CI'):
            print(f'SKIP: {error}')
            return EXIT_SKIPPED
        print(f'check-qemu: {error}', file=sys.stderr)
        return 2
    matrix.write(results.rows, results.figures, options.json, options.markdown)
    print(f'{results.passed} passed, {results.failed} failed, {results.skipped} skipped')
    return 1 if results.failed else 0


if __name__ == '__main__':
    sys.exit(main())
