#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lies.py LIBRARY DIR - libraries that lie, made from one with text and a dynamic section

Makes DIR/libNAME.so, one per lie: fields of the ELF header and of the program headers are changed, or
the file is cut short. The scenarios compare what a patched loader says to them with what the stock one
says.
"""
import struct
import sys

data = open(sys.argv[1], "rb").read()
phoff, phnum = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
OFFSET, VADDR, FILESZ, MEMSZ, ALIGN = 8, 16, 32, 40, 48
loads, dynamic = [], None
for i in range(phnum):
    kind, flags = struct.unpack_from("<II", data, phoff + 56 * i)
    if kind == 1:
        loads.append((phoff + 56 * i, flags))
    if kind == 2:
        dynamic = phoff + 56 * i
text = [at for at, flags in loads if flags & 1][0]
first = loads[0][0]

def lie(name, *changes, keep=len(data)):
    copy = bytearray(data[:keep])
    for at, form, value in changes:
        struct.pack_into(form, copy, at, value)
    open("%s/lib%s.so" % (sys.argv[2], name), "wb").write(copy)

lie("empty", keep=0)
lie("head", keep=63)
lie("headers", keep=64)
lie("relocatable", (16, "<H", 1))
lie("machine", (18, "<H", 2))
lie("phoff", (32, "<Q", 1 << 40))
lie("phnum", (56, "<H", 0xffff))
lie("no_dynamic", (dynamic, "<I", 6))
lie("memsz", (text + MEMSZ, "<Q", 1 << 62))
lie("span", (text + VADDR, "<Q", 1 << 46))
lie("offset", (text + OFFSET, "<Q", (1 << 64) - 4096))
lie("filesz", (text + FILESZ, "<Q", 1 << 62), (text + MEMSZ, "<Q", 1 << 62))
for power in (13, 30, 40, 47, 62, 63):
    lie("align%d" % power, *[(at + ALIGN, "<Q", 1 << power) for at, _ in loads])
lie("align_odd", *[(at + ALIGN, "<Q", 0x201000) for at, _ in loads])
lie("align_max", (first + ALIGN, "<Q", (1 << 64) - 1))
