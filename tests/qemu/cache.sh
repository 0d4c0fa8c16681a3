# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# cache.sh - sourced by the scripts that make the parts of a guest: where the parts are kept
#
# A part is a file or directory NAME-HASH in the cache, with a hash of everything that determines it.
# It is made under another name and renamed, so that a part that exists is whole. The name of a
# script is in front of its messages.

die() {
	echo "$(basename "$0" .sh): $*" >&2
	exit 2
}

say() {
	echo "$(basename "$0" .sh): $*" >&2
}

cache=${EXECALIGN_QEMU_CACHE:-${BUILD:-build}/qemu}
mkdir -p "$cache" || die "cannot make $cache; set EXECALIGN_QEMU_CACHE to a directory that you can write"
cache=$(cd "$cache" && pwd)

# short_hash - of standard input
short_hash() {
	sha256sum | cut -c 1-12
}

# content_of FILE|DIR... - a line per file: its hash and its name within the argument
content_of() {
	local path
	for path; do
		if [ -d "$path" ]; then
			(cd "$path" && find . \( -type f -o -type l \) -print0 | LC_ALL=C sort -z |
				xargs -0r sha256sum)
		else
			sha256sum <"$path"
		fi
	done
}

# begin NAME - ends the script if NAME is there; otherwise sets part, and tmp to make it in
begin() {
	part=$cache/$1
	tmp=$part.tmp.$$
	if [ -e "$part" ]; then
		echo "$part"
		exit 0
	fi
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 2' HUP INT TERM
}

# finish - tmp becomes the part. Another process may have been faster with the same one.
finish() {
	mv -T "$tmp" "$part" 2>/dev/null || [ -e "$part" ] || die "cannot rename $tmp to $part"
	echo "$part"
}
