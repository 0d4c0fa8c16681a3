#!/bin/bash
# SPDX-License-Identifier: MIT
# check.sh - is a series of kernel patches fit to be sent?
#
#   kernel/check.sh [--quick] [--upstream ARCHIVE] VERSION [PATCHES]
#
# VERSION is 7.2 or 6.12. The patches are kernel/VERSION/*.patch, or those of the directory PATCHES.
# Prints a line for each of these, PASS, FAIL or SKIP, and last "N passed, N failed, N skipped":
#   apply/debian/PATCH      it applies, in order and without fuzz, to Debian's source
#   apply/upstream/PATCH    and to what that is made from: Debian's original archive, or ARCHIVE, a
#                           linux-VERSION.tar.* as kernel.org has it
#   checkpatch/PATCH        the kernel's own scripts/checkpatch.pl --strict has nothing to say, but for
#                           CHECKPATCH_IGNORED below
#   compile/PATCH/MACHINE   what it touches compiles without a warning, with the patches before it and
#                           without those behind it, for each of MACHINES below
# --quick leaves out compile/. Packages and the compiler's cache are below EXECALIGN_QEMU_CACHE.
# Exit: 0 nothing failed, 1 something did, 2 cannot (one line on stderr says what).
set -euo pipefail
shopt -s inherit_errexit

project=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=../tests/qemu/cache.sh
. "$project/tests/qemu/cache.sh"
# shellcheck source=source.sh
. "$project/kernel/source.sh"
config=$project/kernel/config

# Not in the right here:
# FILE_PATH_CHANGES    MAINTAINERS names directories: a new file in one of them needs no change of it
# CONSTANT_COMPARISON  takes the left one of two macros, as in CONT_BLOCK_SIZE == PAGE_SIZE, for a constant
#                      and the right one for a variable
CHECKPATCH_IGNORED=FILE_PATH_CHANGES,CONSTANT_COMPARISON

# Name, ARCH, prefix of the tools, fragment in kernel/config, and options that base.config has not:
# programs of 32 bits where both exist; and one machine that knows nothing of huge pages.
MACHINES='
arm64-4k	arm64	aarch64-linux-gnu-	4k	CONFIG_COMPAT=y
arm64-16k	arm64	aarch64-linux-gnu-	16k	CONFIG_COMPAT=y
arm64-64k	arm64	aarch64-linux-gnu-	64k	CONFIG_COMPAT=y
x86_64	x86_64	x86_64-linux-gnu-	-	CONFIG_IA32_EMULATION=y
i386	i386	x86_64-linux-gnu-	-	CONFIG_TRANSPARENT_HUGEPAGE=n'

# What uses what such patches change in headers. A hundred other objects of mm/ and fs/ include them,
# too; these are the ones where a mistake would show.
HEADER_USERS='mm/filemap.o mm/huge_memory.o mm/khugepaged.o mm/madvise.o mm/memory.o mm/mmap.o mm/mprotect.o
mm/mremap.o mm/readahead.o mm/rmap.o mm/shmem.o mm/swap.o mm/truncate.o mm/vma.o mm/vmscan.o
fs/binfmt_elf.o fs/compat_binfmt_elf.o fs/exec.o fs/ext4/file.o fs/overlayfs/file.o fs/proc/task_mmu.o
fs/xfs/xfs_file.o'

quick='' archive=''
while [[ ${1-} == --* ]]; do
	case $1 in
	--quick) quick=1 ;;
	--upstream)
		archive=${2-}
		[ -r "$archive" ] || die "cannot read the archive '$archive'"
		archive=$(realpath "$archive")
		shift
		;;
	*) die "no option '$1'; there are --quick and --upstream" ;;
	esac
	shift
done
[ $# -eq 1 ] || [ $# -eq 2 ] || die "usage: check.sh [--quick] [--upstream ARCHIVE] VERSION [PATCHES]"
version=$1
suite=$(suite_of "$version")
patches=${2:-$project/kernel/$version}
[ -d "$patches" ] || die "no directory $patches"

"$project/mk/deps.sh" bc bison ccache dpkg-dev flex gcc gcc-aarch64-linux-gnu libc6-dev \
	libc6-dev-arm64-cross make patch perl python3 xz-utils >&2

tmp=$(mktemp -d "$cache/check-$version.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 2' HUP INT TERM
tree=$tmp/linux
# A copy: this takes its time, and meanwhile somebody may export the series anew.
mkdir "$tmp/patches"
cp "$patches"/*.patch "$tmp/patches" 2>/dev/null || die "no *.patch in $patches"
series=("$tmp/patches"/*.patch)

passed=0 failed=0 skipped=0

# result PASS|FAIL|SKIP NAME [NOTE]
result() {
	case $1 in
	PASS) passed=$((passed + 1)) ;;
	FAIL) failed=$((failed + 1)) ;;
	SKIP) skipped=$((skipped + 1)) ;;
	esac
	echo "$1 $version/$2${3:+ - $3}"
}

# name_of PATCH - without what git adds
name_of() {
	basename "$1" .patch
}

# files_of PATCH... - the files that they change or add
files_of() {
	sed -nE 's#^\+\+\+ b/([^[:space:]]+).*#\1#p' "$@" | sort -u
}

# --- apply

# apply PATCH TREE KIND - KIND is debian or upstream; false if it does not apply
apply() {
	local name
	name=apply/$3/$(name_of "$1")
	if patch -d "$2" -p1 -f -F0 --no-backup-if-mismatch <"$1" >"$tmp/log" 2>&1; then
		result PASS "$name" "$(grep -c 'succeeded at' "$tmp/log" |
			sed -n 's/^\([1-9].*\)/\1 hunks at other lines/p')"
	else
		result FAIL "$name" "$(grep -m 1 -E 'FAILED|No file|malformed|missing' "$tmp/log" ||
			head -n 1 "$tmp/log")"
		return 1
	fi
}

# The series is like a stack: what lies on a patch that does not apply cannot be checked.
skip_from() {
	local kind=$1 index
	for ((index = $2; index < ${#series[@]}; index++)); do
		result SKIP "$kind/$(name_of "${series[$index]}")" "a patch before it does not apply"
	done
}

upstream_archive() {
	local version_there
	if [ -n "$archive" ]; then
		echo "$archive"
		return
	fi
	version_there=$("$project/mk/suite.sh" versions "$cache/apt" "$suite" arm64 \
		"^linux-source-${version//./\\.}\$" | sort -V | tail -n 1)
	"$project/mk/suite.sh" source "$cache/apt" "$suite" "linux=${version_there#* }"
}

# Only the files that the series touches: the rest takes a minute to unpack, and nobody looks at it.
unpack_upstream() {
	local file list=$tmp/files
	files_of "${series[@]}" | sed 's#^#*/#' >"$list"
	mkdir "$tmp/upstream"
	# Those that the series adds are not there, which tar takes for a failure.
	tar -xf "$1" -C "$tmp/upstream" --strip-components=1 --wildcards --no-wildcards-match-slash \
		-T "$list" 2>"$tmp/log" || ! grep -v -e 'Not found in archive' -e 'previous errors' "$tmp/log" ||
		die "cannot unpack $1"
}

check_upstream() {
	local found index
	if ! found=$(upstream_archive 2>"$tmp/why"); then
		result SKIP apply/upstream "$(tail -n 1 "$tmp/why")"
		return
	fi
	say "unpacking files of $(basename "$found")"
	unpack_upstream "$found"
	for index in "${!series[@]}"; do
		if ! apply "${series[$index]}" "$tmp/upstream" upstream; then
			skip_from apply/upstream $((index + 1))
			return
		fi
	done
}

# --- checkpatch

checkpatch() {
	local name
	name=checkpatch/$(name_of "$1")
	if (cd "$tree" && perl scripts/checkpatch.pl --strict --show-types --no-summary --terse --color=never \
		--ignore "$CHECKPATCH_IGNORED" "$1") >"$tmp/log" 2>&1; then
		result PASS "$name"
	else
		result FAIL "$name" "$(sed -E 's/^[^:]*://' "$tmp/log" | paste -s -d ';' | cut -c 1-400)"
	fi
}

# --- compile

# machine NAME - sets arch, cross, pages, option and out, the directory of its objects. It is in the
# tree: the compiler then sees relative names only.
machine() {
	local name
	while IFS=$'\t' read -r name arch cross pages option; do
		[ "$name" != "$1" ] || break
	done <<<"$MACHINES"
	out=$tree/o-$1
}

machine_names() {
	sed -n 's/\t.*//p' <<<"$MACHINES"
}

# make_for MACHINE TARGET... - into log; false if it fails
make_for() {
	local arch cross pages option out
	machine "$1"
	shift
	kernel_make "$tree" "$arch" "$cross" O="${out##*/}" "$@" >"$tmp/log" 2>&1
}

configure() {
	local arch cross pages option out
	machine "$1"
	mkdir "$out"
	{
		# A switched-off option reads differently in a fragment.
		grep -v "^${option%=*}=" "$config/base.config"
		[ "$pages" = - ] || cat "$config/$pages.config"
		echo "$option" | sed -E 's/^(.*)=n$/# \1 is not set/'
	} >"$out/wanted"
	make_for "$1" KCONFIG_ALLCONFIG="$out/wanted" allnoconfig || die_of_make "the configuration of $1"
	grep -qx "$(tail -n 1 "$out/wanted")" "$out/.config" ||
		die "Linux $version does not take $option on $1"
}

first_problem() {
	grep -m 1 -E 'error:|warning:|\*\*\*' "$tmp/log" || tail -n 1 "$tmp/log"
}

die_of_make() {
	die "cannot make $1: $(first_problem)"
}

# objects_of ARCH PATCH... - what their changes concern on a machine, whether it is configured or not
objects_of() {
	local file directory=${1/x86_64/x86}
	directory=arch/${directory/i386/x86}
	shift
	files_of "$@" | while read -r file; do
		case $file in
		tools/* | Documentation/*) continue ;;
		arch/*) [[ $file == "$directory"/* ]] || continue ;;
		esac
		case $file in
		*.h | *Kconfig* | *Makefile) tr ' ' '\n' <<<"$HEADER_USERS" ;;
		fs/binfmt_elf.c) printf 'fs/%s\n' binfmt_elf.o compat_binfmt_elf.o ;;
		*.c | *.S) echo "${file%.?}.o" ;;
		esac
	done | sort -u
}

# targets_of MACHINE PATCH... - those of their objects that are configured: the base has them
targets_of() {
	local arch cross pages option out object
	machine "$1"
	shift
	objects_of "$arch" "$@" | while read -r object; do
		[ ! -e "$out/$object" ] || echo "$object"
	done
}

# compiles NAME MACHINE TARGET...
compiles() {
	local name=$1
	shift
	if ! make_for "$@"; then
		result FAIL "$name" "$(first_problem)"
	elif grep -q warning: "$tmp/log"; then
		result FAIL "$name" "$(first_problem)"
	else
		result PASS "$name"
	fi
}

# A program of the kernel's own tests, which takes a libc.
selftest_compiles() {
	local name=$1 compiler=$2 file=$3
	if "$compiler" -O2 -Wall -Werror -U_FORTIFY_SOURCE -static -o "$tmp/selftest" "$tree/$file" \
		>"$tmp/log" 2>&1; then
		result PASS "$name"
	else
		result FAIL "$name" "$(first_problem)"
	fi
}

compile_patch() {
	local name machine targets file
	name=compile/$(name_of "$1")
	for machine in $(machine_names); do
		targets=$(targets_of "$machine" "$1")
		# shellcheck disable=SC2086 # a list
		[ -z "$targets" ] || compiles "$name/$machine" "$machine" $targets
	done
	for file in $(files_of "$1" | grep '^tools/testing/selftests/.*\.c$' || true); do
		selftest_compiles "$name/selftest-arm64" aarch64-linux-gnu-gcc "$file"
		selftest_compiles "$name/selftest-x86_64" x86_64-linux-gnu-gcc "$file"
	done
}

# Without any patch: a warning of later is then a patch's. What is not configured, make has no rule for.
compile_base() {
	local arch cross pages option out name=compile/base/$1 objects
	machine "$1"
	objects="mm/filemap.o $(objects_of "$arch" "${series[@]}")"
	# shellcheck disable=SC2086 # a list
	make_for "$1" -k prepare $objects || true
	if grep -qE 'error:|warning:' "$tmp/log" ||
		grep -F '***' "$tmp/log" | grep -qvE "No rule to make target|not remade because of errors"; then
		result FAIL "$name" "$(first_problem)"
	elif [ ! -e "$out/mm/filemap.o" ]; then
		result FAIL "$name" "$(tail -n 1 "$tmp/log")"
	else
		result PASS "$name" "$(targets_of "$1" "${series[@]}" | wc -l) objects"
	fi
}

compile_bases() {
	local name
	for name in $(machine_names); do
		say "configuring and building for $name what the series is about"
		configure "$name"
		compile_base "$name"
	done
}

say "unpacking linux-source-$version"
unpack_source "$version" "$tree"
check_upstream
[ -n "$quick" ] || compile_bases
for index in "${!series[@]}"; do
	file=${series[$index]}
	checkpatch "$file"
	if ! apply "$file" "$tree" debian; then
		skip_from apply/debian $((index + 1))
		break
	fi
	[ -n "$quick" ] || compile_patch "$file"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] || exit 1
