#!/bin/bash
# SPDX-License-Identifier: MIT
# The packages for amd64 on Debian 13: installed, used, replaced, removed, and nothing is left behind.
# timeout: 1200
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip "needs root: packages are installed in a root of their own"
[ "$(uname -m)" = x86_64 ] || skip "only for x86-64: it runs the packages for amd64"
new_root trixie amd64
lifecycle
headline "Debian 13, amd64; with $(installed libc6 | sed 's/^/libc6 /')"
