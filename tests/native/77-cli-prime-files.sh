#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign prime FILE: text that was cached in small folios, or not at all, is in folios of a block
# afterwards, as smaps says of who maps it then; a dry run changes nothing; the first start of clang has
# its blocks mapped large though the shim advises nothing.
# timeout: 180
# serial
. "$(dirname "$0")/prime-lib.sh"
need clang
need_large_folios

library=$TMP/libtext10m.so
cp "$FIXTURES/libtext10m.so" "$library"
sync "$library"
read -r _ whole < <(whole_blocks "$library")
[ "$whole" = $((8 << 20)) ] || fail "the fixture has $whole bytes of whole blocks"
block_folios() {
	query "[.files[0].$1.folios[]? | select(.folio_bytes == $((2 << 20))) | .text_bytes] | add // 0"
}
root=
[ "$(id -u)" != 0 ] || root=1

# --- A dry run reads nothing, not even headers into the cache
evicted "$library"
cli 0 prime --dry-run --json "$library"
expect .schema execalign-prime-1
expect .dry_run true
expect '.files | length' 1
expect '.files[0].whole_blocks_bytes' "$whole"
expect '.files[0].need_bytes' "$whole"
expect '.files[0].read_bytes' null
expect '.files[0].before.cached_bytes' 0
expect '.files[0].after' null
[ "$(cached_pages "$library")" = 0 ] || fail "a dry run leaves $(cached_pages "$library") pages cached"

# --- From nothing
cli 0 prime --json "$library"
expect '.files[0].before.in_block_folios_bytes' 0
expect '.files[0].after.in_block_folios_bytes' "$whole"
expect '.files[0].after.cached_bytes' "$whole"
expect '.files[0].primed' yes
expect '.files[0].reason' null
expect .primed yes
[ -z "$root" ] || [ "$(block_folios after)" = "$whole" ] || fail "folios: $(query '.files[0].after')"
[ "$(query '.files[0].read_bytes')" -ge "$whole" ] || fail "read: $(query '.files[0].read_bytes')"
[ "$(pmd_mapped "$library")" = "$whole" ] || fail "not mapped by PMD entries after prime"

# --- Again: nothing to do
cli 0 prime --json "$library"
expect '.files[0].need_bytes' 0
expect '.files[0].read_bytes' 0
expect '.files[0].before.in_block_folios_bytes' "$whole"

# --- From small folios, which stay in a dry run
small "$library"
[ "$(pmd_mapped "$library")" = 0 ] || fail "the library is not in small folios: nothing is shown"
before=$(cached_pages "$library")
cli 0 prime --dry-run --json "$library"
nearly_all '.files[0].before.cached_bytes' "$whole"
expect '.files[0].before.in_block_folios_bytes' 0
[ -z "$root" ] || nearly_all '.files[0].before.folios[] | select(.folio_bytes == 4096) | .text_bytes' "$whole"
[ "$(cached_pages "$library")" = "$before" ] || fail "a dry run changes what is cached"
[ "$(pmd_mapped "$library")" = 0 ] || fail "a dry run changes folios"
cli 0 prime --json "$library"
expect '.files[0].before.in_block_folios_bytes' 0
expect '.files[0].after.in_block_folios_bytes' "$whole"
[ "$(pmd_mapped "$library")" = "$whole" ] || fail "not mapped by PMD entries after prime"

# --- The same for people
small "$library"
cli 0 prime "$library"
said out "8 MiB  $library"
said out '1 file with whole blocks: 8 MiB, 8 MiB in one folio each'
[ -z "$root" ] || grep -qE 'folios before: (8|7\.[0-9]) MiB in 4 KiB; after: 8 MiB in 2 MiB' "$TMP/out" ||
	fail "folios: $(cat "$TMP/out")"
[ ! -s "$TMP/err" ] || fail "something on standard error: $(cat "$TMP/err")"

# --- No more than is allowed: three blocks of four
small "$library"
cli 1 prime --max 7M --json "$library"
expect '.files[0].need_bytes' $((6 << 20))
expect '.files[0].after.in_block_folios_bytes' $((6 << 20))
expect '.files[0].reason.code' limit
[ "$(pmd_mapped "$library")" = $((6 << 20)) ] || fail "--max 7M: not three blocks"

# --- What is not on disk yet stays as it is
cp "$FIXTURES/libtext10m.so" "$TMP/dirty.so"
if [ "$("$CLI" prime --dry-run --json "$TMP/dirty.so" | jq -r '.files[0].reason.code')" = dirty ]; then
	cli 1 prime "$TMP/dirty.so"
	said out 'being written'
	cmp "$TMP/dirty.so" "$FIXTURES/libtext10m.so" || fail "the file has changed"
	sync "$TMP/dirty.so"
	cli 0 prime "$TMP/dirty.so"
fi

# --- Both ways to write down a file once; nothing that is too small is an error
cp "$FIXTURES/libtext300k.so" "$TMP"
ln -s libtext10m.so "$TMP/link.so"
cli 0 prime --json "$library" "$TMP/link.so" "$library" "$TMP/libtext300k.so"
expect '.files | length' 2
expect '.files[1].reason.code' too-small
expect '.files[1].block_bytes' null
expect .primed yes

# --- The first start of a program, which is placed, but not advised: whatever is large is prime's
mkdir "$TMP/lib"
mapfile -t libraries < <(ldd "$(command -v clang)" | awk '/libLLVM|libclang-cpp/ { print $3 }')
[ "${#libraries[@]}" = 2 ] || skip "this clang does not use libLLVM and libclang-cpp"
cp "${libraries[@]}" "$TMP/lib"
sync "$TMP"/lib/*
echo 'int main(void) { return 0; }' >"$TMP/input.c"
export LD_LIBRARY_PATH=$TMP/lib
start_clang() {
	cli 0 report --json --output "$TMP/report" "$@" -- clang -O2 -c -o "$TMP/output.o" "$TMP/input.c"
	cp "$TMP/report" "$TMP/out"
	read -r touched mapped < <(query '[.processes[0].objects[] | select(.path | startswith("'"$TMP"'/lib/"))]
		| [(map(.touched_bytes) | add), (map(.block_mapped_bytes) | add)] | join(" ")')
	[ "$touched" -gt $((10 << 20)) ] || fail "clang touches only $touched bytes"
}
evicted "$TMP"/lib/*
start_clang --advise never
note "not primed: $mapped of $touched bytes are block-mapped"
[ $((mapped * 100)) -lt $((touched * 95)) ] || fail "everything is block-mapped without prime: nothing is shown"
for advise in '--advise never' --plain; do
	evicted "$TMP"/lib/*
	cli 0 prime "$TMP"/lib/*
	# shellcheck disable=SC2086 # two words
	start_clang $advise
	headline "primed, $advise: $mapped of $touched bytes of clang's text are block-mapped"
	# A plain start may be misplaced.
	[ "$advise" = --plain ] || [ $((mapped * 100)) -ge $((touched * 95)) ] ||
		fail "less than 95% block-mapped after prime"
done
