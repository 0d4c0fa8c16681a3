#!/bin/bash
# SPDX-License-Identifier: MIT
# RLIMIT_AS. Ample (4 GB): everything congruent all the same, so what the shim reserves for an
# instant fits or is done without. Tight, from what the plain program just needs upwards: the
# program runs as without the shim, placed or not.
. "$(dirname "$0")/lib.sh"
misaligning_root

limited() {
	local kib=$1
	shift
	run_prefix=(bash -c "ulimit -v $kib && exec \"\$@\"" bash)
	"$@"
}
app=("$FIXTURES/app" call "open:$FIXTURES/libtext6m.so" "open:$FIXTURES/libl_align64k.so" reserved)
limited 4000000 compare --at-least 4 "${app[@]}"
limited 300000 compare --at-least 4 "${app[@]}"

# The least that the program needs by itself, by bisection. bash and env need some, too.
starts_with() {
	limited "$1" run plain "${app[@]}"
	[ "$(cat "$TMP/plain.status")" = 0 ]
}
run_keeps_maps=
low=1000 high=300000
while [ $((high - low)) -gt 16 ]; do
	middle=$(((low + high) / 2))
	if starts_with "$middle"; then high=$middle; else low=$middle; fi
done
starts_with "$high" || fail "$high KiB are not enough after all"
note "plain needs $high KiB"
# The shim itself is mapped once or twice; below that ld.so says that it cannot load it.
shim_kib=$(($(stat -c %s "$SHIM") / 1024 + 128))
for more in 1 2 3 4 6 8 12 16 32 64 128; do
	for mode in audit preload; do
		limited $((high + shim_kib * 2 + more * 512)) run "$mode" "${app[@]}"
		same "$mode"
	done
done
for more in 0 16 32 48 64 96 128 160 192 256 320; do
	for mode in audit preload; do
		limited $((high + more)) run "$mode" "${app[@]}"
		# The loader may say that the shim does not fit; the program may not fit beside it
		# either.
		case $(cat "$TMP/$mode.status") in
		0 | 1 | 127) ;;
		*) fail "$mode: $more KiB more than plain needs: status $(cat "$TMP/$mode.status")" ;;
		esac
	done
done
