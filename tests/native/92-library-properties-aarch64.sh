#!/bin/bash
# SPDX-License-Identifier: MIT
# The same of the library that is cross-compiled for aarch64, with the property note for BTI and
# PAC.
. "$(dirname "$0")/lib.sh"

[ "$(uname -m)" != aarch64 ] || skip "this is aarch64: 90-library-properties looks at the library"
[ -e "$BUILD/aarch64/libexecalign.so" ] || skip "there is no aarch64 build in $BUILD/aarch64"
. "$(dirname "$0")/library_properties.sh"
check_library "$BUILD/aarch64/libexecalign.so" 'BTI.*PAC' AArch64
