#!/bin/bash
# SPDX-License-Identifier: MIT
# Whatever the patched loader asks for and stock glibc does not, it can be refused: the program runs. What
# both ask for fails in both, with the same words.
# timeout: 5400
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/glibc.sh"
need strace
glibc_loaders
misaligning_root

sed '1i #define LIBRARIES X(text5m) X(text10m) X(text300k) X(l_lld)' \
	"$EA_TOP/tests/loader/libraries.c" >"$TMP/libraries.c"
glibc_program "$patched" "$TMP/patched" "$TMP/libraries.c" text5m text10m text300k l_lld
glibc_program "$stock" "$TMP/stock" "$TMP/libraries.c" text5m text10m text300k l_lld

# calls NAME - what a start asks for, a line per call
calls() {
	strace -o "$TMP/$1.calls" "$TMP/$1" "$FIXTURES/libtext6m.so" >"$TMP/out" 2>&1 ||
		fail "$1 cannot be traced: $(cat "$TMP/out")"
}

# refuse NAME ERROR CALL N - leaves what the program says, and its status, in $TMP/NAME.says; without N,
# all calls of that name
refuse() {
	local name=$1 inject="inject=$3:error=$2${4:+:when=$4}" status=0
	strace -o "$TMP/trace" -e "$inject" "$TMP/$name" "$FIXTURES/libtext6m.so" >"$TMP/out" 2>&1 ||
		status=$?
	grep -q INJECTED "$TMP/trace" || fail "$name: $3 ${4-}: nothing was injected"
	{
		echo "status $status"
		sed "s,^$TMP/$name: ,,; s,${!name}/,," "$TMP/out"
	} >"$TMP/$name.says"
}

calls stock
calls patched
# "added CALL N" for what only the patched loader asks for, "common CALL N-STOCK N-PATCHED".
python3 - "$TMP/stock.calls" "$TMP/patched.calls" <<'END' >"$TMP/compared"
import collections, difflib, re, sys

def calls(path):
    """Of each call: its name, how many of that name there were, what it asks for but for addresses"""
    seen, found = collections.Counter(), []
    for line in open(path):
        name = re.match(r"(\w+)\((.*)", line)
        if name:
            seen[name[1]] += 1
            asks = re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", name[2].split(") = ")[0])
            # Of a file that is opened the name counts, of what is read nothing.
            kept = r"\1" if name[1] == "openat" else "STRING"
            found.append((name[1], seen[name[1]], re.sub(r'"(?:[^"]*/)?([^"/]*)"', kept, asks)))
    return found

stock, patched = map(calls, sys.argv[1:])
matcher = difflib.SequenceMatcher(None, [(c[0], c[2]) for c in stock], [(c[0], c[2]) for c in patched], False)
for kind, from_stock, to_stock, from_patched, to_patched in matcher.get_opcodes():
    for i in range(from_patched, to_patched):
        name, number, _ = patched[i]
        if kind == "equal":
            print("common", name, stock[from_stock + i - from_patched][1], number)
        else:
            print("added", name, number)
END
grep -q '^added mmap ' "$TMP/compared" || fail "nothing was added: $(cat "$TMP/compared")"

count=0
while read -r _ call number; do
	for error in ENOSYS ENOMEM EPERM; do
		refuse patched "$error" "$call" "$number"
		[ "$(cat "$TMP/patched.says")" = 'status 0' ] ||
			fail "$call $number, $error: $(cat "$TMP/patched.says")"
		count=$((count + 1))
	done
done < <(grep '^added' "$TMP/compared")
# All of them at once, for names that stock glibc does not have at all.
while read -r call; do
	! grep -q "^$call(" "$TMP/stock.calls" || continue
	refuse patched ENOSYS "$call"
	[ "$(cat "$TMP/patched.says")" = 'status 0' ] || fail "every $call: $(cat "$TMP/patched.says")"
	count=$((count + 1))
done < <(sed -n 's/^added \([^ ]*\) .*/\1/p' "$TMP/compared" | sort -u)

same=0
refused=0
while read -r _ call in_stock in_patched; do
	refuse stock ENOMEM "$call" "$in_stock"
	refuse patched ENOMEM "$call" "$in_patched"
	cmp -s "$TMP/stock.says" "$TMP/patched.says" ||
		fail "$call $in_patched: $(diff "$TMP/stock.says" "$TMP/patched.says")"
	grep -qx 'status 0' "$TMP/stock.says" || refused=$((refused + 1))
	same=$((same + 1))
done < <(grep -E '^common (mmap|mprotect|fstat|newfstatat|openat|read|pread64) ' "$TMP/compared")
[ "$refused" -ge 5 ] || fail "only $refused of $same refusals stop stock glibc"
added=$(grep '^added' "$TMP/compared" | cut -d ' ' -f 2 | sort | uniq -c | awk '{ print $2, $1 }' | paste -sd ,)
headline "$count refusals survived, $same the same as stock ($refused stop it); added: $added"
