#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign prime and others: text that a process has mapped in small folios stays, and the process is
# named; a plain user may prime; trees and processes; files that change meanwhile kill nobody.
# timeout: 120
# serial
. "$(dirname "$0")/prime-lib.sh"
need_large_folios

library=$TMP/libtext10m.so
cp "$FIXTURES/libtext10m.so" "$library"
sync "$library"
read -r offset whole < <(whole_blocks "$library")
block=$((2 << 20))

# --- One block is in use by somebody
small "$library"
start_map "$library" "$offset" "$whole" 0 touch=4096
cli 1 prime --dry-run --json "$library"
expect '.files[0].need_bytes' $((whole - block))
expect '.files[0].reason.code' mapped
cli 1 prime --json "$library"
expect '.files[0].after.in_block_folios_bytes' $((whole - block))
expect '.files[0].primed' no
expect .primed no
expect '.files[0].reason.code' mapped
expect '[.files[0].mapped_by[] | select(.comm == "cli_map") | .pid] | join(" ")' "$map_pid"
cli 1 prime "$library"
said out "2 MiB cached in small folios, and mapped by $map_pid (cli_map)"
cli 1 prime "$map_pid"
said out "mapped by $map_pid (cli_map)"
end_map
cli 0 prime "$library"
[ "$(pmd_mapped "$library")" = "$whole" ] || fail "not mapped by PMD entries once nobody had it mapped"

# --- The files of a process: for its next start
small "$library"
start_map "$library" "$offset" "$whole" 0
for pid in "$map_pid" "--pid=$map_pid"; do
	cli 0 prime --json "$pid"
	expect "[.files[] | select(.path == \"$library\") | .after.in_block_folios_bytes] | join(\" \")" "$whole"
done
# A number is a PID, also where a file has that name, unless there is a slash.
cp "$FIXTURES/libtext10m.so" "$TMP/$map_pid"
sync "$TMP/$map_pid"
cd "$TMP"
cli 0 prime --json "$map_pid"
expect '.files | map(.path) | join(" ")' "$library"
cli 0 prime --json "./$map_pid"
expect '.files | map(.path) | join(" ")' "./$map_pid"
# A file that has been replaced is not what the next start uses.
cp "$library" "$library.new"
mv "$library.new" "$library"
cli 0 prime --json "$map_pid"
expect '.files | map(.reason.code) | join(" ")' deleted
end_map
sync "$library"
rm "$TMP/$map_pid"

# --- Files that become shorter, longer and others while they are read
python3 - "$library" <<-'END' &
	import os, sys, time
	whole = open(sys.argv[1], "rb").read()
	end = time.time() + 4
	while time.time() < end:
	    os.truncate(sys.argv[1], 4 << 20)
	    with open(sys.argv[1], "r+b") as file:
	        file.write(whole)
	        os.fsync(file.fileno())
	    with open(sys.argv[1] + ".new", "wb") as file:
	        file.write(whole)
	        os.fsync(file.fileno())
	    os.rename(sys.argv[1] + ".new", sys.argv[1])
END
changer=$!
rounds=0
while kill -0 $changer 2>/dev/null; do
	status=0
	"$CLI" prime "$library" >"$TMP/out" 2>"$TMP/err" || status=$?
	[ "$status" -le 2 ] || fail "prime ends with status $status when the file changes"
	rounds=$((rounds + 1))
done
wait $changer || fail "the file could not be changed"
note "$rounds rounds while the file changed"
sync "$library"
cli 0 prime "$library"

# --- A tree: each file once, links not followed, what is none of ours counted
tree=$TMP/tree
mkdir -p "$tree/a/b" "$TMP/elsewhere"
cp "$library" "$tree/a/one.so"
cp "$FIXTURES/libtext5m.so" "$tree/a/b/two.so"
cp "$FIXTURES/libtext10m.so" "$TMP/elsewhere/three.so"
ln "$tree/a/one.so" "$tree/a/b/one.so"
ln -s "$TMP/elsewhere" "$tree/a/link"
ln -s two.so "$tree/a/b/link.so"
mkfifo "$tree/pipe"
cp "$FIXTURES/libtext300k.so" "$tree"
head -c 3M /dev/zero >"$tree/zeros"
head -c 4M "$FIXTURES/libtext5m.so" >"$tree/truncated.so"
cp "$library" "$tree/foreign.so"
printf '\xb7' | dd of="$tree/foreign.so" bs=1 seek=18 conv=notrunc status=none
cp "$library" "$tree/class32.so"
printf '\1' | dd of="$tree/class32.so" bs=1 seek=4 conv=notrunc status=none
sync "$tree" "$tree"/*.so "$tree/a/one.so" "$tree/a/b/two.so"
cli 0 prime --json "$tree"
expect '.files | map(.path) | join(" ")' "$tree/a/b/one.so $tree/a/b/two.so"
expect '.passed_over | [.too_small, .not_elf, .foreign, .broken, .unreadable] | join(" ")' '1 1 2 1 0'
expect .primed yes
[ "$(pmd_mapped "$tree/a/one.so")" = "$whole" ] || fail "not mapped by PMD entries after prime of a tree"
ln -s tree "$TMP/to-tree"
cli 0 prime --json "$TMP/to-tree"
expect '.files | length' 2
cli 0 prime "$tree"
said out 'passed over: 1 too small, 1 not ELF, 2 of 32 bits or for another machine, 1 broken'

# --- A terminal sees how far it is, a file does not
if command -v script >/dev/null; then
	small "$tree/a/one.so"
	script -qec "$CLI prime $tree/a/one.so $tree/a/b/two.so >/dev/null" "$TMP/typescript" >/dev/null
	grep -q 'file 1 of 2' "$TMP/typescript" || fail "no progress on a terminal: $(cat "$TMP/typescript")"
fi

need_root "what a plain user may do is tried as another one"
need setpriv
as_nobody() {
	cli_prefix=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all)
	cli "$@"
	cli_prefix=()
}
chmod 644 "$library"

# --- A plain user, a file of root's: nothing is known before, but all of it is done
for state in small evicted; do
	$state "$library"
	as_nobody 0 prime --json "$library"
	expect '.files[0].before.in_block_folios_bytes' null
	expect '.files[0].before.folios' null
	expect '.files[0].after.in_block_folios_bytes' "$whole"
	expect '.files[0].after.folios' null
	expect '.files[0].primed' yes
	[ "$(pmd_mapped "$library")" = "$whole" ] || fail "$state: not mapped by PMD entries after a plain user's prime"
done
as_nobody 0 prime "$library"
said out 'unknown'
said out 'root (CAP_SYS_ADMIN)'
as_nobody 0 prime --dry-run --json "$library"
expect '.files[0].before.cached_bytes' null
expect '.files[0].primed' unknown

# Of an own file it is known what is cached, not in which folios.
chown 65534 "$library"
small "$library"
as_nobody 0 prime --json "$library"
expect '.files[0].before.in_block_folios_bytes' 0
nearly_all '.files[0].before.cached_bytes' "$whole"
expect '.files[0].before.folios' null
expect '.files[0].after.in_block_folios_bytes' "$whole"

# Who has it mapped may be somebody whom one may not look at, which is said.
small "$library"
start_map "$library" "$offset" "$whole" 0 touch=4096
as_nobody 1 prime --json "$library"
expect '.files[0].reason.code' mapped
expect '.files[0].mapped_by | length' 0
expect '.unseen_processes > 0' true
as_nobody 1 prime "$library"
said out 'a process that may not be looked at'
as_nobody 2 prime "$map_pid"
said err 'this process may not be looked at; '
end_map

# What may not be read is an error if it was named, else counted.
chmod 600 "$tree/a/one.so"
chmod 700 "$tree/a/b"
chown root "$tree/a/one.so" "$tree/a/b"
as_nobody 2 prime "$tree/a/one.so"
said err "$tree/a/one.so: Permission denied; "
as_nobody 2 prime "$tree/a/b"
said err "$tree/a/b: Permission denied; "
as_nobody 0 prime --json "$tree"
expect .passed_over.unreadable 2
