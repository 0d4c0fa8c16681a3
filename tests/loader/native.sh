#!/bin/bash
# SPDX-License-Identifier: MIT
# native.sh NAME - one of the shim's scenarios, tests/native/NAME.sh, under a patched glibc
#
# See EXECALIGN_LOADER in tests/native/lib.sh. native.txt has the names.
# Exit: as the scenario.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || {
	echo "usage: native.sh NAME" >&2
	exit 2
}
part=$("$here/part.sh" glibc "${EXECALIGN_GLIBC:-2.41}" "$(uname -m)") || {
	[ -z "${CI:-}" ] || exit 1
	echo "SKIP: the loader cannot be built"
	exit 77
}
EXECALIGN_LOADER=$part/lib exec "$here/../native/$1.sh"
