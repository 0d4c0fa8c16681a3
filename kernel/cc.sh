#!/bin/sh
# SPDX-License-Identifier: MIT
# cc.sh - the compiler $KERNEL_CC, as ccache is to see it: what it preprocesses has no line numbers
#
# A patch that adds a line to a header moves all below it. ccache knows an object by the preprocessed
# text, in which every line's number stands: a patched kernel would share nothing with the one before.
# Without the numbers, only what the patch changes is compiled anew. With debugging information, this
# would be wrong; the kernels of the tests have none.
for argument; do
	[ "$argument" != -E ] || exec "$KERNEL_CC" -P "$@"
done
exec "$KERNEL_CC" "$@"
