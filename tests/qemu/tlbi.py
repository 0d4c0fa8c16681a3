#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tlbi.py - count the TLBI instructions of write faults in a guest, with a plugin for QEMU

Usage: tlbi.py [--build DIR] [--series before|after] VERSION PAGES [PAGES_WRITTEN]

Prints the counts as a JSON object. Exit: 0 done, 2 cannot. tlbi/count.c says what is counted,
tlbi/tlbi_storm.c what the guest does. For a case:

    with tlbi.Counter(tlbi.made(artefacts)) as counter:
        guest = Guest(..., options=counter.options)
        counts = counter.count(guest, tlbi.storm(512))

or count_tlbi(), which boots a guest with nothing else.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

from artefacts import HERE, ArtefactError, Artefacts
from machine import Guest, GuestError

PAGES_WRITTEN = 512
STORM_SECONDS = 120


class CountError(Exception):
    """One line: why there are no counts."""


def storm(pages=PAGES_WRITTEN, program='/tools/tlbi/tlbi_storm'):
    """The command in a guest; /tools/tlbi is there with more_tools of Artefacts: TOOLS."""
    return f'{program} {pages}'


# For Artefacts(more_tools=...).
TOOLS = {'tlbi': ('tlbi/make.sh',)}


class Counter:
    """For a with statement. directory: what tlbi/make.sh has made; options: for the guest's QEMU."""

    def __init__(self, directory):
        self._out = tempfile.NamedTemporaryFile('r', prefix='execalign-tlbi-', encoding='ascii')
        self.options = ['-plugin', f'{directory}/count.so,out={self._out.name}']

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._out.close()

    def count(self, guest, command, seconds=STORM_SECONDS):
        """What the guest has executed between the marks of a command that must succeed: a dictionary.

        Its names are those of count.c, and what tlbi_storm says: pages, faults, other_faults.
        """
        self._out.read()
        status, output = guest.run(command, seconds)
        if status:
            raise CountError(f'{command}: exit status {status}: {output[-300:]}')
        lines = self._out.read().splitlines()
        if len(lines) != 1:
            raise CountError(f'{command}: counted {len(lines)} times, should be once')
        counts = re.findall(r'(\w+)=(\d+)', f'{lines[0]} {output}')
        return {name: int(number) for name, number in counts}


def broadcasts(counts):
    """All broadcast TLBIs."""
    return sum(number for name, number in counts.items() if name.startswith('broadcast_'))


def count_tlbi(artefacts, version, pages, series=None, pages_written=PAGES_WRITTEN):
    """The counts of tlbi_storm in a guest of its own. artefacts: Artefacts(..., more_tools=TOOLS)."""
    kernel = artefacts.kernel(version, pages, series)
    with Counter(made(artefacts)) as counter, \
            Guest(os.path.join(kernel, 'Image'), artefacts.initrd(kernel), {},
                  options=counter.options) as guest:
        return counter.count(guest, storm(pages_written))


def made(artefacts):
    """The directory with the plugin."""
    environment = dict(os.environ, EXECALIGN_QEMU_CACHE=artefacts.cache, BUILD=artefacts.build)
    done = subprocess.run([os.path.join(HERE, *TOOLS['tlbi'])], text=True, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise ArtefactError(done.stderr.strip())
    return done.stdout.strip()


def main():
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', default='build', help='build directory')
    parser.add_argument('--series', choices=('before', 'after'), help='our own kernel')
    parser.add_argument('version', help='7.2 or 6.12')
    parser.add_argument('pages', help='4k, 16k or 64k')
    parser.add_argument('pages_written', nargs='?', type=int, default=PAGES_WRITTEN)
    options = parser.parse_args()
    # An exception ends what makes the guest's parts, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    try:
        counts = count_tlbi(Artefacts(options.build, TOOLS), options.version, options.pages,
                            options.series, options.pages_written)
    except (ArtefactError, GuestError, CountError) as error:
        print(f'tlbi: {error}', file=sys.stderr)
        return 2
    print(json.dumps({'kernel': options.version, 'pages_of': options.pages,
                      'broadcasts': broadcasts(counts), **counts}))
    return 0


if __name__ == '__main__':
    sys.exit(main())
