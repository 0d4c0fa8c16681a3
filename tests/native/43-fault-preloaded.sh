#!/bin/bash
# SPDX-License-Identifier: MIT
# Each system call of the preloaded shim made to fail, one at a time, with ENOMEM, EPERM, EINVAL and
# EMFILE, in a program that has start-up libraries, dlopens and starts a child, and in one that maps
# code by itself; then every call from the N-th on. The program's output and exit status never
# change.
. "$(dirname "$0")/lib.sh"
need_x86_64 "system calls are failed through its registers"
misaligning_root
. "$(dirname "$0")/fault_injection.sh"

settings=(EXECALIGN_LOG=)
all_of LD_PRELOAD "${app[@]}"
errnos=(12)
all_of LD_PRELOAD "${mapper[@]}"
settings=("EXECALIGN_LOG=$TMP/log")
all_of LD_PRELOAD "$FIXTURES/app" call
