# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# build.sh - sourced by loader-patch/build.sh: how musl is built
#
# OUT/lib/ld-musl-ARCH.so.1 is loader and libc in one file. Put in the place of the installed one, it
# serves every program; as an argument in front of a program, or as its -dynamic-linker, that one.
# version, arch, tree, tmp and is_stock are set by whoever sources this.
# MUSL_CONFIGURE: more options for configure, such as --disable-exec-align.

loader_suite() {
	case $version in
	1.2.3) echo bookworm ;;
	1.2.5) echo trixie ;;
	1.2.6) echo sid ;;
	*) return 1 ;;
	esac
}

loader_needs() {
	echo ccache gcc libc6-dev make
	[ "$arch" = "$(uname -m)" ] || echo "gcc-${arch/_/-}-linux-gnu"
}

# The functions that Debian adds (debian/rules, copy_fts): its programs miss them otherwise.
add_fts() {
	[ -d "$tree/debian/musl-fts" ] || return 0
	mkdir -p "$tree/src/fts"
	cp "$tree"/debian/musl-fts/{fts.c,config.h} "$tree/src/fts/"
	cp "$tree/debian/musl-fts/fts.h" "$tree/include/"
}

loader_build() {
	local prefix=
	[ "$arch" = "$(uname -m)" ] || prefix=$arch-linux-gnu-
	add_fts
	# In the tree itself: ccache then knows a file again wherever the tree lies.
	(
		cd "$tree" || exit
		# shellcheck disable=SC2086 # a list of options
		run_logged configure env CC="ccache ${prefix}gcc" CROSS_COMPILE="$prefix" \
			./configure --target="$arch-linux-musl" --prefix=/usr --syslibdir=/lib \
			--disable-static --disable-wrapper ${MUSL_CONFIGURE-}
		run_logged make make -s "-j$(nproc)" lib/libc.so
	)
	mkdir "$tmp/lib" "$tmp/rule"
	cp "$tree/lib/libc.so" "$tmp/lib/ld-musl-$arch.so.1"
	[ -n "$is_stock" ] ||
		cp "$tree/ldso/exec_align.h" "$tree/arch/$arch/reloc.h" "$tmp/rule/"
}
