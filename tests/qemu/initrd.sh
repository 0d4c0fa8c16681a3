#!/bin/bash
# SPDX-License-Identifier: MIT
# initrd.sh - the file system that a guest starts from: busybox, the kernel's modules, tools
#
#   tests/qemu/initrd.sh KERNEL_DIR TOOLS_DIR
#
# KERNEL_DIR is what kernel.sh has made. TOOLS_DIR's contents come to /tools. Prints the path of an
# uncompressed archive: unpacking takes the emulated processor longer than qemu takes to read it.
# Exit: 0 done, 2 cannot (one line on stderr says what).
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
# shellcheck source=cache.sh
. "$here/cache.sh"

[ $# -eq 2 ] || die "usage: initrd.sh KERNEL_DIR TOOLS_DIR"
kernel=$1 tools=$2
[ -r "$kernel/modules/order" ] || die "no kernel in $kernel; kernel.sh makes one"
[ -d "$tools" ] || die "no directory $tools"

# Prints a directory with bin/: busybox and a link for each of its commands. Which version it is
# does not matter, and to ask apt for it before every boot would take longer than all the rest.
busybox() (
	begin "busybox-$(content_of "$0" | short_hash)"
	"$project/mk/deps.sh" qemu-user-static xz-utils >&2
	deb=$("$project/mk/suite.sh" only "$cache/apt" trixie arm64 busybox-static)
	"$project/mk/suite.sh" unpack "$tmp/deb" "$deb"
	mkdir "$tmp/bin"
	mv "$tmp/deb/usr/bin/busybox" "$tmp/bin/busybox"
	rm -rf "$tmp/deb"
	commands=$(qemu-aarch64-static "$tmp/bin/busybox" --list)
	for command in $commands; do
		[ "$command" = busybox ] || ln -s busybox "$tmp/bin/$command"
	done
	finish
)

stage() {
	mkdir -p "$tmp"/root/{modules,tools,proc,sys,dev,mnt,tmp}
	cp -a "$busybox/bin" "$tmp/root/bin"
	cp -a "$kernel/modules/." "$tmp/root/modules"
	cp -a "$tools/." "$tmp/root/tools"
	cp "$here/guest/init" "$tmp/root/init"
	chmod -R u+w,go+rX "$tmp/root"
	chmod 755 "$tmp/root/init"
}

busybox=$(busybox)
inputs=("$0" "$here/guest/init" "$tools" "$kernel/modules")
begin "initrd-$({ echo "$busybox" && content_of "${inputs[@]}"; } | short_hash)"
"$project/mk/deps.sh" cpio >&2
stage
(cd "$tmp/root" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --reproducible --quiet) \
	>"$tmp/cpio" || die "cannot write $tmp/cpio; is there room in $cache?"
# A part is a file here, so the directory makes way for it.
mv "$tmp/cpio" "$tmp.cpio"
rm -rf "$tmp"
mv "$tmp.cpio" "$tmp"
# There is one for every change of the shim: those of yesterday are of no use.
find "$cache" -maxdepth 1 -type f -name 'initrd-*' -mmin +1440 -delete
finish
