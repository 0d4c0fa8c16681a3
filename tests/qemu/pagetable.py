# SPDX-License-Identifier: MIT
"""pagetable - a guest process's page table, read from the guest's memory while it stands still.

Arm ARM (DDI 0487) D8.2 and D8.3: VMSAv8-64 translation table levels, descriptor formats and the
Contiguous bit. 48-bit addresses; LPA2 is not used by the CPU that the tests run on.

    virtual address, 64K pages          bits per level: 13, at 16K 11, at 4K 9
    | level 1 | level 2 | level 3 | offset |
         |         |         `--> page descriptor: bit 52 = one of a contiguous block
         |         `--> table, or block descriptor (a PMD entry)
         `--> table; TTBR0_EL1 holds the address of the first one
"""
import struct
from dataclasses import dataclass

RAM_BASE = 0x40000000  # of QEMU's machine "virt"

VALID = 1 << 0
TABLE_OR_PAGE = 1 << 1
CONTIGUOUS = 1 << 52
OUTPUT_MASK = (1 << 48) - 1
# TCR_EL1.TG0
GRANULE_SHIFT = {0: 12, 1: 16, 2: 14}

SMALL, CONTPTE, BLOCK = 1, 2, 3


class WalkError(Exception):
    """A table that cannot be: outside of memory, or no vCPU has this address space."""


class Ram:
    """Physical memory of the guest."""

    def __init__(self, memory):
        self._memory = memory

    def read(self, address, size):
        start = address - RAM_BASE
        if start < 0 or start + size > len(self._memory):
            raise WalkError(f'physical address {address:#x} is not in memory')
        return bytes(self._memory[start:start + size])


@dataclass
class Leaf:
    """What maps one page."""
    physical: int
    kind: int  # SMALL, CONTPTE or BLOCK


class AddressSpace:
    """One process's half of the addresses, as TTBR0_EL1 and TCR_EL1 of a vCPU describe it."""

    def __init__(self, ram, ttbr0, tcr):
        self._ram = ram
        self._root = ttbr0 & 0x0000fffffffffffe
        self.page_shift = GRANULE_SHIFT[(tcr >> 14) & 3]
        self._address_bits = 64 - (tcr & 0x3f)
        self._level_bits = self.page_shift - 3
        self._tables = {}

    @property
    def page_bytes(self):
        return 1 << self.page_shift

    def leaf(self, address):
        """The Leaf that maps the page at a virtual address, or None."""
        for table, index, entries, shift in self._walk(address):
            entry = self._entries(table, entries)[index]
            output = entry & OUTPUT_MASK & ~(self.page_bytes - 1)
            if not entry & VALID:
                return None
            if shift == self.page_shift:
                return Leaf(output, CONTPTE if entry & CONTIGUOUS else SMALL)
            if not entry & TABLE_OR_PAGE:
                inside = address & ((1 << shift) - 1) & ~(self.page_bytes - 1)
                return Leaf((output & ~((1 << shift) - 1)) + inside, BLOCK)
        return None

    def _walk(self, address):
        """From the first table down: table, index, number of its entries, log2 of what one maps."""
        levels = -(-(self._address_bits - self.page_shift) // self._level_bits)
        shift = self.page_shift + (levels - 1) * self._level_bits
        # The first table may be shorter than a page: it has the bits that are left.
        table, bits = self._root, self._address_bits - shift
        while True:
            index = (address >> shift) & ((1 << bits) - 1)
            yield table, index, 1 << bits, shift
            entry = self._entries(table, 1 << bits)[index]
            if shift == self.page_shift or not entry & VALID or not entry & TABLE_OR_PAGE:
                return
            table = entry & OUTPUT_MASK & ~(self.page_bytes - 1)
            shift, bits = shift - self._level_bits, self._level_bits

    def runs(self, start, end):
        """Pairs of kind and size of what maps a range; what maps nothing is left out."""
        table_bytes = self.page_bytes << self._level_bits
        while start < end:
            stop = min(end, (start // table_bytes + 1) * table_bytes)
            table = self._last_table(start)
            if isinstance(table, Leaf):
                yield BLOCK, stop - start
            elif table:
                first = (start >> self.page_shift) % len(table)
                for entry in table[first:first + ((stop - start) >> self.page_shift)]:
                    if entry & VALID:
                        yield CONTPTE if entry & CONTIGUOUS else SMALL, self.page_bytes
            start = stop

    def _last_table(self, address):
        """The descriptors of the last level around an address; the Leaf of a block above; None."""
        for table, index, entries, shift in self._walk(address):
            if shift == self.page_shift:
                return self._entries(table, entries)
            entry = self._entries(table, entries)[index]
            if entry & VALID and not entry & TABLE_OR_PAGE:
                return self.leaf(address)
        return None

    def read(self, address, size):
        """Bytes at a virtual address, inside one page; None if nothing is mapped there."""
        leaf = self.leaf(address)
        if not leaf:
            return None
        return self._ram.read(leaf.physical + address % self.page_bytes, size)

    def _entries(self, table, entries):
        if table not in self._tables:
            self._tables[table] = struct.unpack(f'<{entries}Q', self._ram.read(table, entries * 8))
        return self._tables[table]


def find(ram, vcpus, cookie_address, cookie):
    """The address space, among those that the vCPUs are in, where the cookie is.

    vcpus: pairs of TTBR0_EL1 and TCR_EL1. In the kernel a vCPU can be in no process's address
    space at all, and what it points to need not be a table: such a one is passed over.
    """
    for ttbr0, tcr in vcpus:
        try:
            space = AddressSpace(ram, ttbr0, tcr)
            if space.read(cookie_address, len(cookie)) == cookie:
                return space
        except (WalkError, KeyError):
            continue
    return None


@dataclass
class Count:
    """Of a range of addresses, in bytes."""
    touched: int = 0
    contpte: int = 0
    block: int = 0

    @property
    def large(self):
        return self.contpte + self.block


def count(space, start, end):
    """What maps the pages of a range."""
    total = Count()
    for kind, size in space.runs(start, end):
        total.touched += size
        if kind == CONTPTE:
            total.contpte += size
        elif kind == BLOCK:
            total.block += size
    return total
