#!/bin/bash
# SPDX-License-Identifier: MIT
# A start-up library with much static TLS that ld.so takes and the shim cannot read: with more
# program headers than any library has, or with a file that ends a few bytes early. The shim cannot
# tell how much static TLS to ask for, so it leaves the program alone.
. "$(dirname "$0")/lib.sh"
misaligning_root

# change_library KIND - a library with what is to be changed in $TMP/KIND
change_library() {
	mkdir "$TMP/$1"
	/usr/bin/python3 - "$FIXTURES/libtls4k.so" "$TMP/$1/libtls4k.so" "$1" <<-'END'
		import struct, sys
		source, target, kind = sys.argv[1:]
		data = bytearray(open(source, "rb").read())
		phoff, = struct.unpack_from("<Q", data, 32)
		size, count = struct.unpack_from("<HH", data, 54)
		assert size == 56
		if kind == "headers":
		    # The same headers and many PT_NULL ones, at the end of the file.
		    data += bytes(-len(data) % 8)
		    struct.pack_into("<Q", data, 32, len(data))
		    struct.pack_into("<H", data, 56, 70)
		    data += data[phoff:phoff + size * count] + bytes(size * (70 - count))
		else:
		    loads = [struct.unpack_from("<IIQQQQ", data, phoff + size * i) for i in range(count)]
		    end = max(load[2] + load[5] for load in loads if load[0] == 1)
		    # Without section headers, as they are gone.
		    struct.pack_into("<Q", data, 40, 0)
		    struct.pack_into("<HH", data, 60, 0, 0)
		    del data[end - 4:]
		open(target, "wb").write(data)
	END
}

run_plain "$FIXTURES/tls"
cp "$TMP/plain.out" "$TMP/unchanged.out"
for kind in headers short; do
	change_library "$kind"
	run_env=("LD_LIBRARY_PATH=$TMP/$kind" "EXECALIGN_LOG=$TMP/$kind/log")
	run_plain "$FIXTURES/tls"
	cmp -s "$TMP/plain.out" "$TMP/unchanged.out" || fail "$kind: plain: $(cat "$TMP/plain.out")"
	grep -q "$TMP/$kind/libtls4k.so" "$TMP/plain.maps" || fail "$kind: another library is loaded"
	run preload "$FIXTURES/tls"
	same preload
	grep -q 'event=promotion result=declined reason="cannot tell the static TLS' "$TMP/$kind/log" ||
		fail "$kind: the log does not say why: $(cat "$TMP/$kind/log")"
done
