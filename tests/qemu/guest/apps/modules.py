# SPDX-License-Identifier: MIT
"""modules.py - what the guest's python3 runs: modules with extensions and libraries of their own"""
import ctypes
import hashlib
import json
import sqlite3
import ssl
import zlib

connection = sqlite3.connect(':memory:')
connection.execute('create table words (word text, count integer)')
connection.executemany('insert into words values (?, ?)',
                       [(f'word{number % 97}', number) for number in range(2000)])
rows = connection.execute('select word, sum(count) from words group by word').fetchall()
text = json.dumps(sorted(rows)).encode()
print(len(rows), hashlib.sha256(text).hexdigest(), zlib.crc32(text), ssl.OPENSSL_VERSION_NUMBER > 0,
      ctypes.sizeof(ctypes.c_void_p))
