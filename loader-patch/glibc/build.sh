# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154 # what loader-patch/build.sh sets
# build.sh - sourced by loader-patch/build.sh: how glibc is built
#
# OUT/lib/ has ld.so under its usual name and the libraries that belong to it, so that
#
#	OUT/lib/ld-linux-x86-64.so.2 --library-path OUT/lib PROGRAM
#
# runs a program with them; everything else comes from where the system has it. OUT/rule/ has the
# header with the rule, and in x86_64/ and aarch64/ the machines' blocks.
#
# The source is that of Debian's package glibc-source, which has Debian's patches applied and
# Debian's debian/ beside it: mirrors keep it as long as the other binary packages. What Debian leaves
# out of it (the manual) our patches do not touch.
#
# GLIBC_CHECK: tests of glibc to run as well, as in "elf/tst-exec-align elf/tst-align", or "elf" for
# that whole directory. OUT/check then has their results. This takes a full build.

loader_suite() {
	case $version in
	2.36) echo bookworm ;;
	2.41) echo trixie ;;
	2.43) echo sid ;;
	2.44) echo experimental ;;
	*) return 1 ;;
	esac
}

loader_needs() {
	echo bison ccache g++ gawk gcc libc6-dev make python3
	[ "$arch" = "$(uname -m)" ] || echo "gcc-${arch/_/-}-linux-gnu g++-${arch/_/-}-linux-gnu"
}

# Instead of a source package: see above.
loader_fetch() {
	local found deb
	# Without a version, apt would take it from another suite than an experimental one.
	found=$("$project/mk/suite.sh" versions "$cache/apt" "$suite" amd64 '^glibc-source$' |
		cut -d ' ' -f 2 | sort -V | tail -n 1)
	[[ $found == "$version"[-+.]* ]] || die "$suite has glibc ${found:-nowhere}, not $version"
	deb=$("$project/mk/suite.sh" only "$cache/apt" "$suite" amd64 "glibc-source=$found")
	mkdir "$source" "$tmp/deb"
	run_logged "unpacking $deb" dpkg-deb -x "$deb" "$tmp/deb"
	run_logged "unpacking $deb" tar -xJf "$tmp/deb/usr/src/glibc/glibc-$version.tar.xz" \
		--strip-components=1 -C "$source"
	rm -rf "$source/debian"
	mv "$tmp/deb/usr/src/glibc/debian" "$source/debian"
	rm -rf "$tmp/deb"
	# Debian's patches are in the tree already: dpkg-source must not apply them again.
	mkdir "$source/.pc"
	echo 2 >"$source/.pc/.version"
	echo debian/patches >"$source/.pc/.quilt_patches"
	echo series >"$source/.pc/.quilt_series"
	sed -e 's/[[:space:]]*#.*//' -e '/^$/d' "$source/debian/patches/series" \
		>"$source/.pc/applied-patches"
	echo "glibc-source_$found" >"$tmp/origin"
}

# Options as Debian has them where they change the loader or what it finds; no programs, no locales.
glibc_configure() {
	local prefix=$1 triplet=$arch-linux-gnu rtld=/lib64
	local options=(--prefix=/usr --host="$triplet" --build="$(uname -m)-linux-gnu"
		"--libdir=/usr/lib/$triplet" "libc_cv_slibdir=/lib/$triplet" --enable-kernel=3.2
		--disable-werror --without-selinux --disable-nscd --disable-build-nscd
		--disable-timezone-tools --disable-profile --enable-bind-now
		--enable-stack-protector=strong --enable-stackguard-randomization)
	case $arch in
	x86_64) [ "${version#2.}" -ge 44 ] || options+=(--enable-cet) ;;
	aarch64)
		rtld=/lib
		options+=(--enable-standard-branch-protection)
		;;
	esac
	[ "${version#2.}" -ge 39 ] || options+=(--disable-crypt)
	../configure CC="ccache ${prefix}gcc" CXX="ccache ${prefix}g++" \
		"libc_cv_rtlddir=$rtld" "${options[@]}"
}

# The files that make up a libc at run time, under the names that programs ask for.
glibc_collect() {
	local objects=$1 rtld name file
	case $arch in
	x86_64) rtld=ld-linux-x86-64.so.2 ;;
	aarch64) rtld=ld-linux-aarch64.so.1 ;;
	esac
	mkdir "$tmp/lib"
	cp "$objects/elf/ld.so" "$tmp/lib/$rtld"
	for file in "$objects"/*.so.* "$objects"/*/*.so.*; do
		name=$(basename "$file")
		case $name in
		ld*.so.* | *.so.*.* | *_test* | libmemusage* | libpcprofile*) continue ;;
		esac
		[ ! -e "$tmp/lib/$name" ] || continue
		cp -L "$file" "$tmp/lib/$name"
	done
	[ -e "$tmp/lib/libc.so.6" ] || die "the build has made no libc.so.6"
	"${prefix}strip" --strip-debug "$tmp"/lib/*
}

glibc_check() {
	local objects=$1 test
	mkdir "$tmp/check"
	for test in $GLIBC_CHECK; do
		if [ "$test" = elf ]; then
			make -s -C "$objects" "-j$(nproc)" check subdirs=elf >"$tmp/check/elf.log" 2>&1 || true
			cp "$objects"/elf/subdir-tests.sum "$tmp/check/elf.sum" 2>/dev/null || true
			continue
		fi
		make -s -C "$objects" test t="$test" 2>&1 | grep -E '^(PASS|FAIL|XPASS|XFAIL|UNSUPPORTED|ERROR): ' \
			>>"$tmp/check/tests.sum" || echo "ERROR: $test" >>"$tmp/check/tests.sum"
	done
}

loader_build() {
	local prefix='' objects=$tree/objects target=lib
	[ "$arch" = "$(uname -m)" ] || prefix=$arch-linux-gnu-
	[ -z "${GLIBC_CHECK-}" ] || target=all
	mkdir "$objects"
	(
		cd "$objects" || exit
		export CCACHE_DEPEND=1
		# ccache then knows a file again wherever the tree lies.
		export CCACHE_BASEDIR=$tree CCACHE_NOHASHDIR=1
		run_logged configure glibc_configure "$prefix"
		run_logged make make -s "-j$(nproc)" "$target"
		# The libraries beside libc.so.6 are made along with programs of theirs. libmvec needs libm, which
		# its own directory does not know how to make.
		[ "$target" = all ] || run_logged make make -s "-j$(nproc)" math/others
		[ "$target" = all ] || run_logged make make -s "-j$(nproc)" \
			mathvec/others dlfcn/others rt/others resolv/others nss/others \
			nptl/others nptl_db/others login/others inet/others
	)
	glibc_collect "$objects"
	[ -z "${GLIBC_CHECK-}" ] || glibc_check "$objects"
	mkdir -p "$tmp"/rule/{x86_64,aarch64}
	[ -n "$is_stock" ] || {
		cp "$tree/sysdeps/generic/dl-exec-align.h" "$tmp/rule/"
		cp "$tree/sysdeps/unix/sysv/linux/x86_64/64/dl-exec-blocks.h" "$tmp/rule/x86_64/"
		cp "$tree/sysdeps/unix/sysv/linux/aarch64/dl-exec-blocks.h" "$tmp/rule/aarch64/"
	}
}
