#!/bin/bash
# SPDX-License-Identifier: MIT
# Python imports its C extensions and loads libLLVM and libclang-cpp through ctypes, and they do
# real work: the same answers, and the large libraries are congruent.
. "$(dirname "$0")/lib.sh"
misaligning_root

find_library() {
	local file
	for file in $1; do
		[ ! -e "$file" ] || { echo "$file"; return; }
	done
	skip "there is no $1"
}
llvm=$(find_library '/usr/lib/*/libLLVM-[0-9]*.so*')
clang=$(find_library '/usr/lib/llvm-*/lib/libclang-cpp.so.*')
cat >"$TMP/plugins.py" <<'END'
import bz2, ctypes, decimal, hashlib, json, lzma, sqlite3, ssl, sys, zlib

print(hashlib.sha256(zlib.compress(b"x" * 1000)).hexdigest(), decimal.Decimal(1) / 7)
print(sqlite3.connect(":memory:").execute("select 6 * 7").fetchall(), len(lzma.compress(b"a" * 99)))
ssl.create_default_context()
llvm = ctypes.CDLL(sys.argv[1])
for name in ("LLVMContextCreate", "LLVMModuleCreateWithNameInContext", "LLVMPrintModuleToString"):
    getattr(llvm, name).restype = ctypes.c_void_p
context = ctypes.c_void_p(llvm.LLVMContextCreate())
module = ctypes.c_void_p(llvm.LLVMModuleCreateWithNameInContext(b"hello", context))
print(ctypes.string_at(llvm.LLVMPrintModuleToString(module)).decode())
ctypes.CDLL(sys.argv[2])
own = ctypes.CDLL(sys.argv[3])
print(own.text10m_first(), own.text10m_last())
END
compare --at-least 3 /usr/bin/python3 "$TMP/plugins.py" "$llvm" "$clang" "$FIXTURES/libtext10m.so"
grep -q "ModuleID = 'hello'" "$TMP/plain.out" ||
	fail "libLLVM did not work: $(cat "$TMP/plain.err")"
