#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""marked_loader.py LOADER OUT [VERSION [DEFAULT]] - a copy of a loader with the note of a patched one

It says that it places text by itself, which it does not: the note takes the place of the build ID,
which is a little longer. Exit 1 if there is no build ID to replace.
"""
import os
import shutil
import struct
import sys

loader, out = sys.argv[1:3]
version = int(sys.argv[3]) if len(sys.argv) > 3 else 1
default = int(sys.argv[4]) if len(sys.argv) > 4 else 1
note = struct.pack("<3I12s2I", 10, 8, 1, b"execalign", version, default)

with open(loader, "rb") as file:
    data = bytearray(file.read())
phoff, = struct.unpack_from("<Q", data, 32)
phnum, = struct.unpack_from("<H", data, 56)
for i in range(phnum):
    p_type, _, offset, _, _, filesz = struct.unpack_from("<2I4Q", data, phoff + 56 * i)
    if p_type == 4 and filesz >= len(note) and data[offset + 8 : offset + 16] == b"\3\0\0\0GNU\0":
        data[offset : offset + filesz] = note.ljust(filesz, b"\0")
        break
else:
    sys.exit(f"{loader} has no build ID")
with open(out, "wb") as file:
    file.write(data)
shutil.copymode(os.path.realpath(loader), out)
