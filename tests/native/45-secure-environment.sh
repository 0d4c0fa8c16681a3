#!/bin/bash
# SPDX-License-Identifier: MIT
# A set-user-ID program that gets the shim from /etc/ld.so.preload, where its caller has no say, and
# settings from its caller: they have no effect. ld.so takes dangerous variables out of its
# environment, which leaves more than one NULL at the end; a log must not be written in root's name.
. "$(dirname "$0")/lib.sh"
need_root "a set-user-ID program and /etc/ld.so.preload in a mount namespace"
need setpriv

cp /usr/bin/id "$TMP/id"
cp "$SHIM" "$TMP/libexecalign.so"
chmod 4755 "$TMP/id"
chmod 755 "$TMP/libexecalign.so"
mkdir -m 700 "$TMP/private"
mkdir "$TMP/ns"

# An /etc of its own, over the real one: nothing of it is seen outside the namespace.
cat >"$TMP/with-preload" <<-'END'
	set -eu
	mount -t tmpfs execalign "$1/ns"
	mkdir "$1/ns/upper" "$1/ns/work"
	mount -t overlay -o "lowerdir=/etc,upperdir=$1/ns/upper,workdir=$1/ns/work" execalign /etc
	[ -z "$2" ] || echo "$2" >/etc/ld.so.preload
	shift 2
	exec "$@"
END
# preloaded SHIM COMMAND... - with this in /etc/ld.so.preload, nothing for plain
preloaded() {
	run_prefix=(unshare --mount --propagation private sh "$TMP/with-preload" "$TMP" "$1"
		"${as_user[@]}")
	shift
	"$@"
}

run_keeps_maps=
run_preload=
as_user=()
preloaded "" run plain true
[ "$(cat "$TMP/plain.status")" = 0 ] || skip "/etc cannot be covered: $(head -1 "$TMP/plain.err")"
# The empty LD_PRELOAD, which run() sets, is one more that ld.so takes out.
for unsafe in "" TMPDIR=x "TMPDIR=x LD_LIBRARY_PATH=/x LOCALDOMAIN=x"; do
	read -r -a unsafe_env <<<"$unsafe"
	run_env=(-i "${unsafe_env[@]}" "EXECALIGN_LOG=$TMP/private/log" EXECALIGN_PROMOTE=always)
	as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	preloaded "" run plain "$TMP/id"
	grep -q 'euid=0' "$TMP/plain.out" || skip "set-user-ID has no effect in $TMP"
	preloaded "$TMP/libexecalign.so" run preload-secure "$TMP/id"
	same preload-secure
	[ ! -e "$TMP/private/log" ] ||
		fail "with '$unsafe' a log was written with privileges: $(cat "$TMP/private/log")"
	# The same without privileges to lose: /etc/ld.so.preload does what the scenario thinks.
	as_user=()
	preloaded "$TMP/libexecalign.so" run preload-secure "$TMP/id"
	[ -s "$TMP/private/log" ] || fail "the shim is not preloaded by /etc/ld.so.preload"
	rm "$TMP/private/log"
done
