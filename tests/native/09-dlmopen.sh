#!/bin/bash
# SPDX-License-Identifier: MIT
# dlmopen: a library in a new link-map namespace, with a second libc, works. It is congruent when it
# is asked for by its bare name; glibc does not tell auditors in advance of one asked for by its
# path.
. "$(dirname "$0")/lib.sh"
misaligning_root

compare --at-least 5 "$FIXTURES/app" call new:libtext6m.so open:libl_lld.so \
	new:libl_align64k.so close close reserved new:libl_together.so new:libl_large.so call
compare_output "$FIXTURES/app" call "new:$FIXTURES/libtext6m.so" "open:$FIXTURES/libl_lld.so" \
	"new:$FIXTURES/libl_align64k.so" close close reserved "new:$FIXTURES/libl_together.so" call
