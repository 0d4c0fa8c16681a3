# SPDX-License-Identifier: MIT
"""bench - what a case is given: a guest with its filesystems mounted, and a place for results."""
from dataclasses import dataclass, field
from typing import Callable


class Failure(Exception):
    """One line: what is not as it must be."""


class Skip(Exception):
    """One line: why this cannot be tried here."""


@dataclass
class Bench:
    """A guest, and what was seen on this kernel so far."""
    guest: object
    version: str
    pages: str
    fixtures: list                                # read_fixtures()
    rows: dict = field(default_factory=dict)      # Testimony by Setup
    figures: list = field(default_factory=list)   # what scenarios measure
    boot: Callable = None                         # boot(icount, options): another guest's Bench
    artefacts: object = None                      # what guests are made of
    series: str = None                            # before or after the kernel series; None: no matter
    quick: bool = False                           # fewer repetitions

    @property
    def advised(self):
        """Is block-sized text better read with advice than without, on this kernel?"""
        return self.version != '6.12' and self.pages != '4k'

    def has_large_folios(self, filesystem):
        """Can it have them, on this kernel? 6.12's ext4 has none; an overlay is of home."""
        return self.version != '6.12' or filesystem != 'ext4'

    @property
    def home(self):
        """For what needs only one filesystem; for the kernel series, one with large folios."""
        return 'xfs' if self.series and not self.has_large_folios('ext4') else 'ext4'

    def run(self, command, seconds=60):
        """Output of a shell command that must succeed."""
        status, output = self.guest.run(command, seconds)
        if status:
            raise Failure(f'{command}: exit status {status}: {output[-300:]}')
        return output

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.guest.close()


@dataclass(frozen=True)
class Fixture:
    """A synthetic library."""
    file: str
    text_bytes: int
    align_bytes: int
    page_bytes_max: int  # larger pages cannot load it
    shifted: bool        # addresses and file offsets differ: lld's default layout


def read_fixtures(directory):
    """What fixtures/make.sh wrote down about the libraries that it made."""
    with open(f'{directory}/list', encoding='utf-8') as lines:
        fields = [line.split() for line in lines if not line.startswith('#')]
    return [Fixture(name, int(text), int(align), int(page), layout == 'shifted')
            for name, text, align, _linker, layout, page in fields]
