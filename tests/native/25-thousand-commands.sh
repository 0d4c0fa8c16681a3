#!/bin/bash
# SPDX-License-Identifier: MIT
# 1,000 commands of a shell script under LD_PRELOAD: the same output; how much longer is printed,
# not judged. Programs with nothing to gain are not re-executed.
# serial
. "$(dirname "$0")/lib.sh"
misaligning_root

cat >"$TMP/commands.sh" <<'END'
i=0
while [ "$i" -lt 125 ]; do
	/bin/echo "round $i"
	/bin/echo "$i" | sed 's/^/number /' | tr a-z A-Z
	expr "$i" + 1
	basename "/a/b/$i.c" .c
	seq "$i" 3 "$((i + 5))" | wc -l
	i=$((i + 1))
done
END
run_keeps_maps=
seconds() {
	local start=$EPOCHREALTIME
	run "$1" sh "$TMP/commands.sh"
	awk -v start="$start" -v end="$EPOCHREALTIME" 'BEGIN { printf "%.3f\n", end - start }'
}
for round in 1 2; do
	plain=$(seconds plain)
	preload=$(seconds preload)
	same preload
	headline "round $round: 1000 commands: plain $plain s, preloaded $preload s," \
		"ratio $(awk -v a="$preload" -v b="$plain" 'BEGIN { printf "%.2f", a / b }')"
done
run audit sh "$TMP/commands.sh"
same audit
[ "$(wc -l <"$TMP/plain.out")" = 625 ] || fail "the script wrote $(wc -l <"$TMP/plain.out") lines"

# What has nothing to gain is not executed a second time; what has is.
for program in /bin/true /bin/echo /usr/bin/env /usr/bin/sort; do
	env "EXECALIGN_LOG=$TMP/log" LD_PRELOAD="$SHIM" "$program" </dev/null >/dev/null
done
! grep 'event=promotion result=done' "$TMP/log" || fail "a program with nothing to gain was promoted"
env "EXECALIGN_LOG=$TMP/log" LD_PRELOAD="$SHIM" "$FIXTURES/app" call >/dev/null
grep -q 'event=promotion result=done' "$TMP/log" || fail "no promotion where there is something to gain"
