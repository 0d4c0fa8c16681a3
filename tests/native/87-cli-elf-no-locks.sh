#!/bin/bash
# SPDX-License-Identifier: MIT
# execalign elf --set-align where the copy needs a name and the filesystem has no locks (NFS without
# its lock daemon): the file stays, one line says why, and no copy is left behind.
. "$(dirname "$0")/cli-lib.sh"
need strace
need_x86_64 "the file is of 2 MiB blocks"

dir=$TMP/dir
mkdir "$dir"
cp "$FIXTURES/libtext5m.so" "$dir/lib.so"
copy=$dir/.execalign-$(stat -c %i "$dir/lib.so")
# The second openat() that touches these is that of a copy without a name: see 75-cli-elf-interrupted.sh.
strace -f -qq -o "$TMP/trace" -P "$dir" -P "$dir/lib.so" -P "$copy" -e inject=openat:error=EOPNOTSUPP:when=2 \
	-e inject=flock:error=ENOLCK "$CLI" elf --set-align auto "$dir/lib.so" >"$TMP/out" 2>"$TMP/err" &&
	fail "it succeeded: $(cat "$TMP/out")"
[ "$(grep -c 'flock.*INJECTED' "$TMP/trace")" -ge 1 ] || fail "no lock was refused: $(cat "$TMP/trace")"
[ "$(wc -l <"$TMP/err")" = 1 ] || fail "not one line: $(cat "$TMP/err")"
grep -qi 'lock' "$TMP/err" || fail "the message does not name the lock: $(cat "$TMP/err")"
cmp -s "$dir/lib.so" "$FIXTURES/libtext5m.so" || fail "the file was changed"
[ "$(ls -A "$dir")" = lib.so ] || fail "left: $(ls -A "$dir")"
