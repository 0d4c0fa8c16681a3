#!/bin/bash
# SPDX-License-Identifier: MIT
# The packages for arm64 on Debian 12, under qemu-user: installed, used, replaced, removed, and nothing is left
# behind.
# timeout: 2400
. "$(dirname "$0")/lib.sh"

if [ "${EA_FOREIGN:-}" != inside ]; then
	[ "$(uname -m)" != aarch64 ] || skip "on arm64 itself, the other scenarios would have to do it"
	[ "$(id -u)" = 0 ] || skip "needs root: packages are installed in a root of their own"
	# Otherwise it says why.
	reason=$("$EA_TOP/tests/deb/foreign.sh" true 2>&1) || skip "${reason:-programs for arm64 cannot run here}"
	rm -rf "$TMP"
	EA_FOREIGN=inside exec "$EA_TOP/tests/deb/foreign.sh" bash "$0"
fi

new_root bookworm arm64
lifecycle
headline "Debian 12, arm64 under qemu-user; with $(installed libc6 | sed 's/^/libc6 /')"
