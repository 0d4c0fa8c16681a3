#!/bin/bash
# SPDX-License-Identifier: MIT
# make install puts everything in its place and what is installed finds itself; man pages and
# completion name every option that there is.
# serial
. "$(dirname "$0")/cli-lib.sh"
need make man bash

# make_build ARGUMENT... - make with this build directory
make_build() {
	make -s -C "$EA_TOP" BUILD="$BUILD" "$@" >"$TMP/make.out" 2>&1 || fail "make $*: $(tail -5 "$TMP/make.out")"
}

root=$TMP/root
make_build install DESTDIR="$root" PREFIX=/opt/execalign LIBDIR=/opt/execalign/lib/there
prefix=$root/opt/execalign
for file in bin/execalign lib/there/libexecalign.so share/man/man1/execalign.1 \
	share/man/man8/libexecalign.so.8 share/bash-completion/completions/execalign; do
	[ -s "$prefix/$file" ] || fail "$file was not installed"
done
[ "$(find "$prefix" -type f | wc -l)" = 5 ] || fail "installed: $(find "$prefix" -type f)"
[ -x "$prefix/bin/execalign" ] || fail "the command is not executable"

# Installed for good: the command finds the shim in LIBDIR.
make_build install PREFIX="$TMP/installed" LIBDIR="$TMP/installed/lib/there"
# shellcheck disable=SC2016 # for the inner shell
[ "$("$TMP/installed/bin/execalign" run sh -c 'echo $LD_PRELOAD')" = "$TMP/installed/lib/there/libexecalign.so" ] ||
	fail "the installed command does not find the shim"
make_build all

for page in execalign.1 libexecalign.so.8; do
	man --warnings -l "$prefix/share/man/man${page##*.}/$page" 2>"$TMP/err" >"$TMP/page.${page##*.}" </dev/null
	[ ! -s "$TMP/err" ] || fail "$page: $(head -3 "$TMP/err")"
done

# Completion: every option that --help shows, and no other.
# shellcheck disable=SC1090,SC1091 # found at run time
. "$prefix/share/bash-completion/completions/execalign"
complete_word() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMP_LINE="$*"
	COMP_POINT=${#COMP_LINE}
	COMPREPLY=()
	_execalign
	printf '%s\n' "${COMPREPLY[@]}" | sed 's/=$//' | sort
}
for command in run report doctor elf prime 'bench exec'; do
	# shellcheck disable=SC2086 # one word, or two
	cli 0 $command --help
	grep -oE -- '^ +(-[a-z], +)?--[a-z-]+' "$TMP/out" | grep -oE -- '--[a-z-]+' | sort >"$TMP/options"
	# shellcheck disable=SC2086
	complete_word execalign $command -- >"$TMP/completed"
	diff "$TMP/options" "$TMP/completed" >&2 || fail "completion of $command"
	while read -r option; do
		grep -q -- "$option" "$TMP/page.1" || fail "execalign(1) does not mention $option"
	done <"$TMP/options"
done
[ "$(complete_word execalign '' | tr '\n' ' ')" = '--help --version bench doctor elf help prime report run ' ] ||
	fail "completion of commands: $(complete_word execalign '')"
[ "$(complete_word execalign run --promote '' | tr '\n' ' ')" = 'always auto never ' ] || fail "completion of values"
[ "$(complete_word execalign elf --set-align 3 | tr '\n' ' ')" = '32M ' ] || fail "completion of sizes"
complete_word execalign run -- ech | grep -qx echo || fail "completion of CMD"
[ "$(complete_word execalign bench '' | tr '\n' ' ')" = '--help exec ' ] || fail "completion of benchmarks"
complete_word execalign report "${$:0:1}" | grep -qx "$$" || fail "completion of a PID"
complete_word execalign prime --pid "${$:0:1}" | grep -qx "$$" || fail "completion of --pid"

# Every variable that the shim reads is in its man page.
strings "$SHIM" | grep -oxE 'EXECALIGN(_[A-Z]+)?' | grep -vx EXECALIGN_PROMOTED | sort -u >"$TMP/variables"
while read -r variable; do
	grep -q -- "$variable" "$TMP/page.8" || fail "libexecalign.so(8) does not mention $variable"
done <"$TMP/variables"
