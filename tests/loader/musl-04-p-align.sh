#!/bin/bash
# SPDX-License-Identifier: MIT
# p_align is honoured, with the block rule and without; stock musl does not.
# timeout: 2400
. "$(dirname "$0")/lib.sh"
musl_loaders
misaligning_root

names=(small64k small2m small16m l_align2m l_align64k l_300k)
"$EA_TOP/tests/fixtures/make_library.sh" "$TMP/libsmall64k.so" 64 bfd -z max-page-size=0x10000
"$EA_TOP/tests/fixtures/make_library.sh" "$TMP/libsmall2m.so" 64 bfd -z max-page-size=0x200000
"$EA_TOP/tests/fixtures/make_library.sh" "$TMP/libsmall16m.so" 64 bfd -z max-page-size=0x1000000
sed "1i #define LIBRARIES $(printf 'X(%s) ' "${names[@]}")" "$EA_TOP/tests/loader/libraries.c" \
	>"$TMP/libraries.c"

# aligned LOADER - are all first mappings where p_align wants them?
aligned() {
	musl_program "$1" "$TMP/program" "$TMP/libraries.c" "${names[@]}"
	run plain "$TMP/program"
	works plain
	python3 - "$TMP/plain.maps" <<-'END'
		import re, sys
		want = {"small64k": 1 << 16, "small2m": 1 << 21, "small16m": 1 << 24, "l_align2m": 1 << 21,
		        "l_align64k": 1 << 16}
		seen = {}
		for line in open(sys.argv[1]):
		    found = re.search(r"^([0-9a-f]+)-.*/lib(\w+)\.so$", line)
		    if found and found[2] not in seen:
		        seen[found[2]] = int(found[1], 16)
		wrong = ["%s at %x" % (name, seen[name]) for name in want if seen[name] % want[name]]
		print(", ".join(wrong))
		sys.exit(bool(wrong))
	END
}

! aligned "$stock" >/dev/null || ! aligned "$stock" >/dev/null || fail "stock musl honours p_align"
for value in 0 1 65536; do
	run_env=("LD_EXEC_ALIGN=$value")
	for _ in 1 2 3; do
		said=$(aligned "$patched") || fail "LD_EXEC_ALIGN=$value: $said"
	done
done
