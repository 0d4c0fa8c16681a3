# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# lib.sh - what the scenarios of the packages have in common; each begins with: . "$(dirname "$0")/lib.sh"
#
# A scenario exits 0 (passed), 1 (failed) or 77 (skipped, after printing "SKIP: reason").

set -euo pipefail

# The scenario alone decides what is set.
ea_cache=${EXECALIGN_QEMU_CACHE:-}
unset "${!LD_@}" "${!EXECALIGN_@}" GLIBC_TUNABLES
[ -z "$ea_cache" ] || export EXECALIGN_QEMU_CACHE=$ea_cache
export LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin

EA_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$(cd "$EA_TOP" && realpath -m "${BUILD:-build}")
export BUILD
DEBS=$BUILD/deb
NAME=$(basename "$0" .sh)

skip() {
	echo "SKIP: $*"
	exit 77
}

fail() {
	echo "$NAME: FAILED: $*" >&2
	exit 1
}

# headline TEXT - tests/run.sh shows the last one beside the scenario's name
headline() {
	echo "NOTE: $*"
}

TMP=$(mktemp -d "${TMPDIR:-/tmp}/execalign-$NAME.XXXXXX")
chmod 755 "$TMP"
trap 'rm -rf "$TMP"' EXIT

# Used by the scenarios.
# shellcheck disable=SC2034
VERSION=$(dpkg-parsechangelog -l "$EA_TOP/packaging/changelog" -S Version)

# deb PACKAGE ARCH - sets deb to its file
deb() {
	deb=$DEBS/$1_${VERSION}_$2.deb
	[ -e "$deb" ] || fail "there is no $deb; build it first (make deb)"
}

# in_root COMMAND... - in $root, with processes of its own; also inside foreign.sh, where no device can be
# made
in_root() {
	unshare --mount --propagation private --pid --fork --kill-child bash -c '
		mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"' \
		"$root" env -i PATH="$PATH" LC_ALL=C.UTF-8 HOME=/root DEBIAN_FRONTEND=noninteractive \
		http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" "$@" </dev/null
}

# ok COMMAND... - in $root; fails the scenario unless it exits 0. Leaves its output in $TMP/out, $TMP/err
ok() {
	in_root "$@" >"$TMP/out" 2>"$TMP/err" || fail "$*: exit status $?: $(tail -n 5 "$TMP/out" "$TMP/err")"
}

# state - of $root: packages; files with owner, mode and content. Left out: what records that something
# was done, and apt's, man's and ldconfig's caches; of dpkg's own files only what belongs to packages is in.
state() {
	dpkg-query --admindir="$root/var/lib/dpkg" -W -f='${Package} ${Version} ${db:Status-Abbrev}\n'
	(
		cd "$root"
		find . -xdev \( -path ./proc -o -path ./dev -o -path ./packages -o -path ./var/log -o -path ./var/lib/apt \
			-o -path ./var/cache/apt -o -path ./var/cache/man -o -path ./var/cache/ldconfig \) -prune -o -printf '%p %M %U:%G %l\n' |
			grep -vE '^\./var/lib/dpkg/[a-z]+-old ' | LC_ALL=C sort
		find . -xdev -type f ! -path './proc/*' ! -path './dev/*' ! -path './packages/*' ! -path './var/log/*' \
			! -path './var/lib/apt/*' ! -path './var/cache/*' \
			\( ! -path './var/lib/dpkg/*' -o -path './var/lib/dpkg/info/*' \) -print0 |
			LC_ALL=C sort -z | xargs -0r sha256sum
	)
}

# installed PACKAGE - its version in $root, empty if it is not installed
installed() {
	dpkg-query --admindir="$root/var/lib/dpkg" -W -f='${db:Status-Status} ${Version}\n' "$1" 2>/dev/null |
		sed -n 's/^installed //p'
}

# new_root SUITE ARCH - sets root to a Debian of its own, with the packages in /packages, and triplet
new_root() {
	local archive package
	triplet=$(dpkg-architecture -a "$2" -q DEB_HOST_MULTIARCH 2>/dev/null)
	archive=$("$EA_TOP/tests/deb/root.sh" "$1" "$2") || {
		# In CI nothing may be missing.
		[ -z "${CI:-}" ] || fail "no root of $1/$2 can be made"
		skip "no root of $1/$2 can be made"
	}
	root=$TMP/root
	mkdir -p "$root"
	tar -x --numeric-owner --exclude='./dev/*' -C "$root" -f "$archive"
	# The mirror is to be found as it is here.
	cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
	mkdir "$root/packages"
	for package in execalign libexecalign; do
		deb "$package" "$2"
		cp "$deb" "$root/packages/$package.deb"
		older "$package"
	done
	ok apt-get -q update
}

# older PACKAGE - puts another one into /packages, of a version before
older() {
	rm -rf "$TMP/older"
	dpkg-deb -R "$root/packages/$1.deb" "$TMP/older"
	sed -i "s/$VERSION/$VERSION~older/" "$TMP/older/DEBIAN/control"
	dpkg-deb --root-owner-group -b "$TMP/older" "$root/packages/$1-older.deb" >/dev/null
}

# the_library_is_loaded COMMAND... - which runs `cat /proc/self/maps` with it
the_library_is_loaded() {
	ok "$@"
	grep -q " /usr/lib/$triplet/libexecalign\.so\$" "$TMP/out" || fail "$*: the library is not loaded"
	[ ! -s "$TMP/err" ] || fail "$*: says $(head -n 3 "$TMP/err")"
}

# the_cache_has_it - that ld.so finds it without looking through directories
the_cache_has_it() {
	ok ldconfig -p
	grep -q "libexecalign\.so .* => .*/lib/$triplet/libexecalign\.so\$" "$TMP/out" || fail "ld.so's cache has it not"
}

# use - what is installed in $root works
use() {
	ok execalign --version
	[ "$(cat "$TMP/out")" = "execalign ${VERSION%-*}" ] || fail "execalign --version says $(cat "$TMP/out")"
	ok execalign run -- true
	[ ! -s "$TMP/err" ] || fail "execalign run says $(head -n 3 "$TMP/err")"
	the_library_is_loaded execalign run -- cat /proc/self/maps
	# By its name alone, as in the drop-in for systemd. ld.so goes on without what it cannot find, and says so.
	the_library_is_loaded env LD_PRELOAD=libexecalign.so cat /proc/self/maps
	ok man -w 1 execalign
	ok man -w 8 libexecalign.so
	ok man 1 execalign
	grep -q 'execalign report' "$TMP/out" || fail "execalign(1) is not readable: $(head -n 3 "$TMP/out")"
	ok man 8 libexecalign.so
	grep -q EXECALIGN_PROMOTE "$TMP/out" || fail "libexecalign.so(8) is not readable: $(head -n 3 "$TMP/out")"
	# bash-completion finds it by the command's name.
	ok bash -c '. /usr/share/bash-completion/bash_completion
		_completion_loader execalign || [ $? = 124 ]
		complete -p execalign
		COMP_WORDS=(execalign re) COMP_CWORD=1; _execalign; echo "${COMPREPLY[@]}"'
	[ "$(cat "$TMP/out")" = $'complete -F _execalign execalign\nreport' ] ||
		fail "completion: $(cat "$TMP/out")"
	ok dpkg --verify execalign libexecalign
	[ ! -s "$TMP/out" ] || fail "installed files are not those of the packages: $(cat "$TMP/out")"
}

# report - execalign shows how a real program is mapped: openssl, whose libcrypto has text for whole blocks
report() {
	ok execalign report --promote always --json --output /packages/report.json -- x265 --version
	grep -q 'HEVC encoder version' "$TMP/err" || fail "x265 says $(head -n 3 "$TMP/err")"
	python3 - "$root/packages/report.json" "${EA_FOREIGN:-}" <<-'END' || fail "the report of x265 is wrong"
		import json, sys
		report = json.load(open(sys.argv[1]))
		assert report['schema'] == 'execalign-report-1', 'schema'
		assert report['command']['argv'] == ['x265', '--version'], 'argv'
		assert report['command']['exit_status'] == 0, 'exit status'
		process, = report['processes']
		if sys.argv[2]:
		    sys.exit()
		assert process['shim'] == 'auditing', process['shim']
		libraries = {o['path'].rsplit('/', 1)[-1].split('.')[0]: o for o in process['objects']}
		large = libraries['libx265']
		assert large['eligible'] and large['congruent'] and large['whole_blocks_bytes'] > 0, large
		assert 'libexecalign' in libraries, 'the library is not in the process'
	END
	ok execalign doctor /usr/lib
	ok execalign report 1
}

# refused COMMAND... - apt does not do this in $root
refused() {
	! in_root "$@" >"$TMP/out" 2>&1 || fail "$*: was done: $(tail -n 5 "$TMP/out")"
}

# lifecycle - install, use, replace and remove, and $root is as it was
lifecycle() {
	local install=(apt-get -qy --no-install-recommends install) package
	state >"$TMP/before"
	[ "$(installed execalign)$(installed libexecalign)$(installed libjson-c5)" = '' ] ||
		fail "the new root has packages already that are to be installed"

	# They go together, and only in the same version.
	refused "${install[@]}" /packages/execalign.deb
	grep -q "execalign : Depends: libexecalign (= $VERSION)" "$TMP/out" || fail "refused otherwise: $(cat "$TMP/out")"
	refused "${install[@]}" /packages/execalign.deb /packages/libexecalign-older.deb

	ok "${install[@]}" /packages/execalign-older.deb /packages/libexecalign-older.deb
	[ "$(installed execalign)" = "$VERSION~older" ] || fail "the older version is not installed"
	[ -n "$(installed libjson-c5)" ] || fail "libjson-c5 was not installed with it"
	use
	# A program that has the library goes on while it is replaced.
	ok bash -c 'LD_PRELOAD=libexecalign.so bash -c "read -r; exec cat /proc/self/maps" < <(
			apt-get -qy install /packages/execalign.deb /packages/libexecalign.deb >&2 && echo)'
	for package in execalign libexecalign; do
		[ "$(installed "$package")" = "$VERSION" ] || fail "$package was not replaced by the newer one"
	done
	grep -q "/libexecalign\.so\$" "$TMP/out" || fail "a program did not survive that its library was replaced"
	use
	report
	# The same version again, in both ways.
	ok "${install[@]}" --reinstall /packages/execalign.deb /packages/libexecalign.deb
	ok dpkg -i /packages/execalign.deb /packages/libexecalign.deb
	use

	refused dpkg --remove libexecalign
	ok apt-get -qy remove execalign libexecalign
	in_root sh -c 'ls -d /usr/bin/execalign /usr/lib/*/libexecalign.so' >"$TMP/out" 2>/dev/null || :
	[ ! -s "$TMP/out" ] || fail "not removed: $(cat "$TMP/out")"
	# Without configuration there is nothing that only purge would remove.
	[ -z "$(dpkg-query --admindir="$root/var/lib/dpkg" -W -f='${Package}\n' '*execalign' 2>/dev/null)" ] ||
		fail "dpkg remembers removed packages"
	ok "${install[@]}" /packages/execalign.deb /packages/libexecalign.deb
	ok apt-get -qy purge --autoremove execalign libexecalign
	state >"$TMP/after"
	diff "$TMP/before" "$TMP/after" >"$TMP/diff" || fail "something is left behind, or changed: $(head -n 20 "$TMP/diff")"
	# The library alone, which needs nothing; and no other package has the cache made anew.
	ok dpkg -i /packages/libexecalign.deb
	the_cache_has_it
	the_library_is_loaded env LD_PRELOAD=libexecalign.so cat /proc/self/maps
	ok dpkg --purge libexecalign
	state >"$TMP/after"
	diff "$TMP/before" "$TMP/after" >"$TMP/diff" || fail "the library leaves something behind: $(head -n 20 "$TMP/diff")"
}
