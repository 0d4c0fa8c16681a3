# SPDX-License-Identifier: MIT
"""patched_scenarios - programs of the userland whose loaders are the patched ones

Each function is called with a Bench (bench.py) and raises Failure when something is not as it must
be. Nothing is preloaded and no variable is set: programs do what they do by Debian's loaders, and
their libraries are where large entries can map them.
"""
from bench import Failure
from scenarios import FIXTURES, in_root, last_json
from witness import KIB

OFF = {'glibc': 'GLIBC_TUNABLES=glibc.elf.exec_align=0', 'musl': 'LD_EXEC_ALIGN=0'}
UNDER_REPORT = '/tools/execalign report --json --plain --output /tmp/report --'

# Command, with {report} in front of the program that is reported on; whether it has libraries that
# hold a block whatever the page size is. The shell runs the functions of the guest's init.
PROGRAMS = {
    'init': ("/bin/sh -c '. /tools/guest.sh && method_environment audit && disk_reads >/dev/null'",
             False),
    'shell': ("{report} /bin/bash -c 'for word in a b c; do echo $word | tr a-c A-C; done'", False),
    'python3': ('{report} /usr/bin/python3 /tools/apps/modules.py', True),
    'redis': ("env 'UNDER={report}' /bin/sh /tools/apps/redis.sh", True),
    'openssl': ('{report} /usr/bin/openssl dgst -sha256 /tools/apps/words.c', True),
    'clang': ('{report} /usr/bin/clang --version', True),
}


def _loadable(bench):
    """All synthetic libraries, also those that no shim can place where the filesystem aligns."""
    page_bytes = int(bench.pages[:-1]) * KIB
    return ' '.join(f'{FIXTURES}/{fixture.file}' for fixture in bench.fixtures
                    if fixture.page_bytes_max >= page_bytes)


def _probes(bench):
    """The probe of either libc, which ends when it has opened them."""
    return {'glibc': f'{{report}} /tools/bin/probe -q {_loadable(bench)}',
            'musl': f'{{report}} /tools/bin/probe-musl -q {_loadable(bench)}'}


def _reported(bench, command, environment=''):
    """(output, [library as report has it]) of a command by the patched loaders."""
    prefix = f'rm -f /mnt/ext4-patched/tmp/report; EXTRA_ENVIRONMENT={environment}'
    output = in_root(bench, 'patched', command.replace('{report}', UNDER_REPORT), prefix)
    if '{report}' not in command:
        return output, []
    report = last_json(bench.run('cat /mnt/ext4-patched/tmp/report'))
    return output, [thing for thing in report['processes'][0]['objects']
                    if thing['role'] == 'library' and thing['eligible']]


def _misplaced(libraries):
    return [thing['path'] for thing in libraries if not thing['congruent']]


def _check_placed(bench, name, command, is_eligible):
    plain = in_root(bench, 'plain', command.replace('{report}', ''))
    output, libraries = _reported(bench, command)
    if output != plain:
        raise Failure(f'{name} prints {output[-200:]!r}, by the other loader {plain[-200:]!r}')
    if is_eligible and not libraries:
        raise Failure(f'{name} has no eligible library')
    if _misplaced(libraries):
        raise Failure(f"{name}: misplaced: {' '.join(_misplaced(libraries))}")
    return len(libraries)


def userland(bench):
    """Programs print the same, and everything eligible is congruent."""
    counts = [f'{name} {_check_placed(bench, name, *program)}'
              for name, program in PROGRAMS.items()]
    return 'congruent libraries: ' + ', '.join(counts)


def layouts(bench):
    """So are libraries of all layouts, by either libc's loader."""
    counts = [f'{libc} {_check_placed(bench, libc, command, True)}'
              for libc, command in _probes(bench).items()]
    return 'congruent libraries: ' + ', '.join(counts)


def switches(bench):
    """Both loaders can be told to place nothing, and ld.so says how.

    A library is congruent by luck once in 16 or more, all of them are not.
    """
    listed = in_root(bench, 'patched', '/lib/ld-linux-aarch64.so.1 --list-tunables')
    if 'glibc.elf.exec_align:' not in listed:
        raise Failure(f'ld.so has no glibc.elf.exec_align: {listed[-200:]}')
    commands = [('glibc', PROGRAMS[name][0]) for name in ('python3', 'openssl', 'clang')]
    found = {libc: _reported(bench, command, OFF[libc])[1]
             for libc, command in [*commands, *_probes(bench).items()]}
    for libc, libraries in found.items():
        if not _misplaced(libraries):
            raise Failure(f'{libc}: {OFF[libc]} does not switch it off: all of '
                          f'{len(libraries)} libraries are congruent')
