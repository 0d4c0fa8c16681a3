#!/bin/bash
# SPDX-License-Identifier: MIT
# What libexecalign.so is: no DT_NEEDED, no TLS, text of at most 36 KiB, read-only relocations, a
# stack that is not executable, no relocation in the text, just the exported symbols it needs, and
# the property notes for IBT and shadow stack.
. "$(dirname "$0")/lib.sh"
need readelf
. "$(dirname "$0")/library_properties.sh"
case $(uname -m) in
x86_64) check_library "$SHIM" 'IBT.*SHSTK' X86-64 ;;
aarch64) check_library "$SHIM" 'BTI.*PAC' AArch64 ;;
esac
