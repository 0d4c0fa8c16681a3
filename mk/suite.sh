#!/bin/bash
# SPDX-License-Identifier: MIT
# suite.sh - packages of another Debian suite or machine, without installing anything here
#
#   mk/suite.sh fetch  DIR SUITE ARCH PACKAGE...   download the packages and what they depend on
#   mk/suite.sh only   DIR SUITE ARCH PACKAGE...   download just these packages
#   mk/suite.sh versions DIR SUITE ARCH PATTERN    print "package version", by name (a regular expression)
#   mk/suite.sh source DIR SUITE PACKAGE           download what a source package is made from, an archive
#   mk/suite.sh dsc    DIR SUITE PACKAGE           download a source package with Debian's changes
#   mk/suite.sh unpack ROOT DEB...                 unpack packages into a directory
#   mk/suite.sh mirror                             print the mirror
#
# DIR holds apt's own lists and cache: an apt that has nothing in common with the machine's, except
# the mirror and the keys that the machine's sources name. Packages come into DIR/SUITE-ARCH/, sources
# into DIR/SUITE-source/. A PACKAGE may be NAME=VERSION. Package lists younger than a day are used as
# they are.
# Exit: 0 done, 2 cannot (one line on stderr says what).
set -euo pipefail

LIST_MAX_AGE_MIN=1440

die() {
	echo "suite: $*" >&2
	exit 2
}

# The mirror that the machine's own sources name for Debian itself, in either format.
mirror() {
	local found
	found=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
		sed -nE -e 's/^URIs:[[:space:]]*([^[:space:]]+).*/\1/p' \
			-e 's/^deb[[:space:]]+(\[[^]]*\][[:space:]]*)?([^[:space:]]+).*/\2/p' |
		grep -E '/debian/?$' | head -n 1) || true
	[ -n "$found" ] || die "no Debian mirror in /etc/apt/sources.list or /etc/apt/sources.list.d"
	echo "$found"
}

KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# apt_in STATE ARCH COMMAND... - an apt tool with a configuration of its own
apt_in() {
	local state=$1 arch=$2 tool=$3
	shift 3
	APT_CONFIG="$state/apt.conf" "$tool" -qq -o APT::Architecture="$arch" \
		-o APT::Architectures="$arch" "$@"
}

# prepare DIR SUITE ARCH - sets state; package lists are there and recent afterwards. ARCH "source" is
# for sources.
prepare() {
	local dir mirror suite=$2 arch=$3 kind=deb
	mkdir -p "$1"
	dir=$(cd "$1" && pwd)
	state=$dir/$suite-$arch
	[ -r "$KEYRING" ] || die "no $KEYRING; install debian-archive-keyring"
	mkdir -p "$state"/{lists,cache/archives/partial,etc/apt.conf.d,etc/preferences.d,log}
	exec 9<"$state"
	flock 9
	: >"$state/status"
	mirror=$(mirror) || exit
	if [ "$arch" = source ]; then
		kind='deb-src'
		arch=$(dpkg --print-architecture)
	fi
	echo "$kind [signed-by=$KEYRING] $mirror $suite main" >"$state/sources.list"
	cat >"$state/apt.conf" <<-END
	Dir::Etc "$state/etc";
	Dir::Etc::sourcelist "$state/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	Dir::State "$state";
	Dir::State::lists "$state/lists";
	Dir::State::status "$state/status";
	Dir::Cache "$state/cache";
	Dir::Log "$state/log";
	APT::Install-Recommends "false";
	APT::Sandbox::User "root";
	Acquire::Languages "none";
	Acquire::Retries "3";
	// A mirror that is kept at one day serves signatures whose time is over.
	Acquire::Check-Valid-Until "false";
	END
	if [ -z "$(find "$state/updated" -mmin "-$LIST_MAX_AGE_MIN" 2>/dev/null)" ]; then
		apt_in "$state" "$arch" apt-get update >"$state/log/update" 2>&1 ||
			die "cannot fetch the package lists of $suite/$3: $(tail -n 1 "$state/log/update")"
		touch "$state/updated"
	fi
}

fetch() {
	local arch=$3
	prepare "$1" "$2" "$3"
	shift 3
	apt_in "$state" "$arch" apt-get -y --download-only install "$@" >"$state/log/fetch" 2>&1 ||
		die "cannot fetch $* ($arch): $(grep -m 1 '^E:' "$state/log/fetch")"
	# The closure of these packages, not what an earlier call left in the cache.
	apt_in "$state" "$arch" apt-get -s install "$@" |
		sed -nE 's/^Inst ([^ ]+) \(([^ ]+).*/\1_\2/p' | sed 's/:/%3a/g' |
		while read -r stem; do
			ls "$state/cache/archives/$stem"_*.deb
		done
}

only() {
	local arch=$3
	prepare "$1" "$2" "$3"
	shift 3
	local package name
	cd "$state/cache/archives"
	for package; do
		name=${package%%=*}
		apt_in "$state" "$arch" apt-get download "$package" >"$state/log/fetch" 2>&1 ||
			die "cannot fetch $package ($arch): $(grep -m 1 '^E:' "$state/log/fetch")"
		find "$PWD" -name "${name}_*.deb" -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-
	done
}

# In the environment, since gawk warns of the backslashes in what -v sets, and reads them in its own way.
versions() {
	prepare "$1" "$2" "$3"
	apt_in "$state" "$3" apt-cache dumpavail |
		PATTERN=$4 awk '$1 == "Package:" { name = $2 }
			$1 == "Version:" && name ~ ENVIRON["PATTERN"] { print name, $2 }'
}

# The command "source", which is a word of the shell's own. Prints the archive of the original source,
# not Debian's changes to it; apt has compared its checksum with the signed lists.
source_archive() {
	local package=$3 file
	prepare "$1" "$2" source
	# Not where the files come to lie: apt leaves out those that it finds.
	cd "$state"
	file=$(apt_in "$state" "$(dpkg --print-architecture)" apt-get --print-uris --only-source \
		--download-only --tar-only source "$package" 2>"$state/log/fetch" |
		sed -nE "s/^'[^']*' ([^ ]+\.orig\.tar\.[a-z0-9]+) .*/\1/p") || true
	[ -n "$file" ] || die "$2 has no source package $package with an original archive"
	cd cache/archives
	apt_in "$state" "$(dpkg --print-architecture)" apt-get --only-source --download-only \
		--tar-only source "$package" >"$state/log/fetch" 2>&1 ||
		die "cannot fetch $package (source): $(grep -m 1 '^E:' "$state/log/fetch")"
	echo "$PWD/$file"
}

# Prints the .dsc, for dpkg-source -x; what it names lies beside it.
dsc() {
	local package=$3 file
	prepare "$1" "$2" source
	# Not where the files come to lie: apt leaves out those that it finds.
	cd "$state"
	file=$(apt_in "$state" "$(dpkg --print-architecture)" apt-get --print-uris --only-source \
		--download-only source "$package" 2>"$state/log/fetch" |
		sed -nE "s/^'[^']*' ([^ ]+\.dsc) .*/\1/p") || true
	[ -n "$file" ] || die "$2 has no source package $package"
	cd cache/archives
	apt_in "$state" "$(dpkg --print-architecture)" apt-get --only-source --download-only \
		source "$package" >"$state/log/fetch" 2>&1 ||
		die "cannot fetch $package (source): $(grep -m 1 '^E:' "$state/log/fetch")"
	echo "$PWD/$file"
}

unpack() {
	local root=$1 deb
	shift
	mkdir -p "$root"
	for deb; do
		dpkg-deb -x "$deb" "$root" || die "cannot unpack $deb"
	done
}

command=${1:-}
shift || true
case $command in
fetch | only | versions) [ $# -ge 4 ] || die "usage: suite.sh $command DIR SUITE ARCH NAME..." ;;
source)
	[ $# -eq 3 ] || die "usage: suite.sh source DIR SUITE PACKAGE"
	command=source_archive
	;;
dsc) [ $# -eq 3 ] || die "usage: suite.sh dsc DIR SUITE PACKAGE" ;;
mirror) [ $# -eq 0 ] || die "usage: suite.sh mirror" ;;
unpack) [ $# -ge 2 ] || die "usage: suite.sh unpack ROOT DEB..." ;;
*) die "no command '$command'; there are fetch, only, versions, source, dsc, unpack, mirror" ;;
esac
"$command" "$@"
