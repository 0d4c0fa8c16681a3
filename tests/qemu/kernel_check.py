#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kernel_check.py - run the cases of the kernel series in arm64 guests, before it and after it

Usage: kernel_check.py [options]; see --help. Prints a line per case (PASS, FAIL or SKIP), tables,
and last "N passed, N failed, N skipped". Exit: 0 nothing failed, 1 something did, 2 cannot run.
"""
import argparse
import fnmatch
import glob
import os
import sys

import kernel_cases
import kernel_matrix
import tlbi
from artefacts import ArtefactError, Artefacts, Unavailable
from check import EXIT_SKIPPED, Results, Session, check_host, end_by_exception, long_build, run_all

MACHINES = [('7.2', '64k'), ('7.2', '16k'), ('7.2', '4k'),
            ('6.12', '64k'), ('6.12', '16k'), ('6.12', '4k')]
QUICK_MACHINES = [('7.2', '64k')]
# In this order: what is after is compared with what was before.
SERIES = ('before', 'after')
QUICK_SERIES = ('after',)


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', default='build', help='build directory')
    parser.add_argument('--pages', default='*', help='4k, 16k or 64k')
    parser.add_argument('--kernel', default='*', help='7.2 or 6.12')
    parser.add_argument('--series', default='*', help='before or after')
    parser.add_argument('--fs', help='ext4, xfs or overlay')
    parser.add_argument('--case', default='*', help='pattern of case names, or several with commas')
    parser.add_argument('--quick', action='store_true', help='the part that make check runs')
    parser.add_argument('--parts-only', action='store_true',
                        help='only fetch and build what guests are made of')
    parser.add_argument('--json', help='file for the results')
    parser.add_argument('--markdown', help='file for the tables')
    parser.add_argument('--folios', help='file for the tables of folios')
    return parser.parse_args()


def choose(options):
    """[(version, pages, series)] of the command line, and the cases."""
    machines, series = (QUICK_MACHINES, QUICK_SERIES) if options.quick else (MACHINES, SERIES)
    kernels = [(version, pages, one) for version, pages in machines for one in series
               if fnmatch.fnmatch(version, options.kernel) and fnmatch.fnmatch(pages, options.pages)
               and fnmatch.fnmatch(one, options.series)]
    some = kernel_cases.select(options.case, options.fs, options.quick)
    if not kernels or not some:
        raise ArtefactError('no case is so; --help has the options, kernel_cases.py the names')
    return kernels, some


def _patches(version):
    return glob.glob(os.path.join(Artefacts.patches(version), '*.patch'))


def _tools(kernels):
    """What guests have beside what they always have: by directory, the command that makes it."""
    tools = {'series': ('series/make.sh',), **tlbi.TOOLS}
    for version in {version for version, *_ in kernels}:
        if _patches(version):
            tools[f'kselftest-{version}'] = 'kselftest.sh', version, Artefacts.patches(version)
    return tools


def _has_series(results, version, pages, series):
    """A version without patches has nothing after them."""
    if series == 'before' or _patches(version):
        return True
    results.add('SKIP', f'{version}/{pages}/{series}', f'there is no kernel/{version}/*.patch')
    return False


def _groups(artefacts, results, kernels, some, quick):
    """Sessions, those of the same version and page size one after the other, with shared rows."""
    groups = {}
    for version, pages, series in kernels:
        sessions, rows = groups.setdefault((version, pages), ([], {}))
        sessions.append((Session(artefacts, version, pages, results, series, rows, quick),
                         some))
    return [sessions for sessions, _ in groups.values()]


def main():
    """See above."""
    options = parse_arguments()
    end_by_exception()
    results = Results()
    try:
        kernels, some = choose(options)
        artefacts = Artefacts(options.build, _tools(kernels))
        check_host(artefacts)
        kernels = [one for one in kernels if _has_series(results, *one) and
                   not (options.quick and long_build(artefacts, results, *one, 'kernel-parts'))]
        if options.quick and not kernels:
            print('SKIP: the kernels are not built yet; make kernel-parts builds them')
            return EXIT_SKIPPED
        artefacts.images()
        for one in kernels:
            artefacts.kernel(*one)
        if options.parts_only:
            return 0
        run_all(artefacts, _groups(artefacts, results, kernels, some, options.quick))
    except ArtefactError as error:
        # In CI nothing may be missing.
        if options.quick and isinstance(error, Unavailable) and not os.environ.get('CI'):
            print(f'SKIP: {error}')
            return EXIT_SKIPPED
        print(f'check-kernel: {error}', file=sys.stderr)
        return 2
    kernel_matrix.write(results.figures, options.json, options.markdown, options.folios)
    print(f'{results.passed} passed, {results.failed} failed, {results.skipped} skipped')
    return 1 if results.failed else 0


if __name__ == '__main__':
    sys.exit(main())
