#!/bin/sh
# SPDX-License-Identifier: MIT
# deps.sh PACKAGE... - install the Debian packages among these that are missing.
# Needs root or sudo only if something is missing. Exit: 0 all there, 2 cannot.
set -eu

# make -j runs several of these at once, and apt fails where another one is at work.
exec 9<"$0"
flock 9

missing=
for package; do
	status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || status=
	[ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
	echo "deps: these packages are missing and there is no apt-get to install them:$missing" >&2
	exit 2
fi
sudo=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "deps: run as root or install sudo, or: apt-get install$missing" >&2
		exit 2
	fi
	sudo=sudo
fi
echo "deps: installing$missing"
# The package lists may be missing or too old on a fresh machine: fetch them first.
$sudo apt-get -qq update || { echo "deps: apt-get update failed; check the network" >&2; exit 2; }
# shellcheck disable=SC2086 # a list of package names
$sudo env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes \
	apt-get -qq -y --no-install-recommends install $missing >/dev/null || { echo "deps: cannot install:$missing" >&2; exit 2; }
