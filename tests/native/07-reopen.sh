#!/bin/bash
# SPDX-License-Identifier: MIT
# dlclose and dlopen 1,000 times: /proc/self/maps does not grow and nothing stays reserved, for the
# loader's direct way of mapping and for the over-allocating one.
. "$(dirname "$0")/lib.sh"
misaligning_root

for library in text6m l_lld l_align64k l_oddbased; do
	compare --only 'libtext*' --at-least 2 "$FIXTURES/app" call reserved \
		"reopen:1000:$FIXTURES/lib$library.so" reserved "open:$FIXTURES/libtext6m.so"
	grep -q '0 mappings reserved, maps did not grow' "$TMP/plain.out" || fail "plain grows too"
done
