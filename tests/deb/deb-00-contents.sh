#!/bin/bash
# SPDX-License-Identifier: MIT
# The packages have what they should, and nothing of the machine that they were built on; lintian has
# nothing to say.
. "$(dirname "$0")/lib.sh"

[ "$VERSION" = "$(sed -n 's/^#define EXECALIGN_VERSION "\(.*\)"/\1/p' "$EA_TOP/cli/main.c")-1" ] ||
	fail "packages are of version $VERSION, the command is not"

# field DEB NAME
field() {
	dpkg-deb -f "$1" "$2"
}

# unpacked PACKAGE ARCH - sets deb and root, a directory with its files
unpacked() {
	deb "$1" "$2"
	root=$TMP/$1-$2
	[ -d "$root" ] || dpkg-deb -x "$deb" "$root"
}

# files - that are in root
files() {
	(cd "$root" && find . ! -type d -printf '%P\n' | sort)
}

# expect_files FILE... - that these are all there are
expect_files() {
	diff <(printf '%s\n' "$@" | sort) <(files) >&2 || fail "$(basename "$deb") has other files"
}

# says PATTERN COMMAND... - that a line of the command's output matches
says() {
	local pattern=$1 said
	shift
	said=$("$@") || fail "$*: exit status $?"
	grep -qE -- "$pattern" <<<"$said"
}

# is_for ARCH FILE - that the file is a program or library for this machine, stripped, hardened
is_for() {
	local machine
	case $1 in
	amd64) machine=X86-64 ;;
	arm64) machine=AArch64 ;;
	esac
	says "Machine:.*$machine" readelf -hW "$2" || fail "$2 is not for $1"
	! says '\.(debug_|symtab)' readelf -SW "$2" || fail "$2 is not stripped"
	says 'BIND_NOW|FLAGS_1.*NOW' readelf -dW "$2" || fail "$2 is bound lazily"
	says GNU_RELRO readelf -lW "$2" || fail "$2 has no RELRO"
	# Where it was compiled, and the libraries that it was linked with.
	! says "$EA_TOP|/sysroot-" strings -a "$2" || fail "$2 names directories of this machine"
}

for arch in amd64 arm64; do
	triplet=$(dpkg-architecture -a "$arch" -q DEB_HOST_MULTIARCH 2>/dev/null)

	unpacked libexecalign "$arch"
	doc=usr/share/doc/libexecalign
	expect_files "usr/lib/$triplet/libexecalign.so" usr/share/man/man8/libexecalign.so.8.gz \
		"$doc/changelog.Debian.gz" "$doc/copyright" usr/share/lintian/overrides/libexecalign
	is_for "$arch" "$root/usr/lib/$triplet/libexecalign.so"
	[ "$(field "$deb" Depends)" = '' ] || fail "libexecalign depends on $(field "$deb" Depends)"
	[ "$(field "$deb" Multi-Arch)" = same ] || fail "libexecalign is not for several architectures at once"
	says '^activate-noawait ldconfig$' dpkg-deb -I "$deb" triggers || fail "ld.so's cache is left as it is"

	unpacked execalign "$arch"
	doc=usr/share/doc/execalign
	mapfile -t docs < <(cd "$EA_TOP" && ls docs/*.md)
	mapfile -t examples < <(cd "$EA_TOP/examples/systemd" && ls -- *.service *.conf *.md 2>/dev/null)
	expect_files usr/bin/execalign usr/share/man/man1/execalign.1.gz \
		usr/share/bash-completion/completions/execalign usr/share/lintian/overrides/execalign \
		"$doc/changelog.Debian.gz" "$doc/copyright" "$doc/README.md" "${docs[@]/#/$doc/}" \
		"${examples[@]/#/$doc/examples/}"
	is_for "$arch" "$root/usr/bin/execalign"
	says "^/usr/lib/$triplet/libexecalign\.so\$" strings -a "$root/usr/bin/execalign" ||
		fail "the command for $arch looks for the library elsewhere"
	# A package for each library that is needed, and as many.
	depends=$(field "$deb" Depends)
	[[ $depends == "libexecalign (= $VERSION), "* ]] || fail "execalign depends on $depends"
	needed=0
	while read -r library; do
		case $library in
		ld-linux*) continue ;;
		libc.so.6) package=libc6 ;;
		libelf.so.1) package=libelf1 ;;
		libjson-c.so.5) package=libjson-c5 ;;
		libpfm.so.4) package=libpfm4 ;;
		*) fail "$arch: the command needs $library; what package is it in?" ;;
		esac
		[[ "$depends, " =~ \ $package\ \(\>=\ [0-9.]+\),\  ]] || fail "$arch: $library is needed, but Depends: $depends"
		needed=$((needed + 1))
	done < <(readelf -dW "$root/usr/bin/execalign" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
	[ "$(tr -cd , <<<"$depends" | wc -c)" = "$needed" ] || fail "$arch: Depends: $depends"
	for package in execalign libexecalign; do
		deb "$package" "$arch"
		dpkg-deb -c "$deb" | awk '$2 != "root/root" { exit 1 }' || fail "$package: a file is not root's"
		dpkg-deb -c "$deb" | awk '$1 !~ /^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x)$/ { exit 1 }' ||
			fail "$package: odd permissions: $(dpkg-deb -c "$deb")"
	done
done

# Installed side by side, these are the same files for dpkg.
diff -r "$TMP/libexecalign-amd64/usr/share" "$TMP/libexecalign-arm64/usr/share" >&2 ||
	fail "libexecalign's files differ between architectures"

command -v lintian >/dev/null || skip "lintian is not installed"
lintian --allow-root --display-info --fail-on error,warning,info "$DEBS"/*_"$VERSION"_*.deb >"$TMP/lintian" 2>&1 ||
	fail "lintian: $(head -n 20 "$TMP/lintian")"
headline "$(cd "$DEBS" && stat -c '%n %s' -- *_"$VERSION"_*.deb | sed "s/_${VERSION}_/ /" | paste -s -d , | sed 's/,/, /g') bytes"
