#!/bin/bash
# SPDX-License-Identifier: MIT
# Each system call of the auditor made to fail, one at a time, with ENOMEM, EPERM, EINVAL and
# EMFILE, in a program that has start-up libraries, dlopens and starts a child; then every call from
# the N-th on. The program's output and exit status never change.
. "$(dirname "$0")/lib.sh"
need_x86_64 "system calls are failed through its registers"
misaligning_root
. "$(dirname "$0")/fault_injection.sh"

settings=(EXECALIGN_LOG=)
all_of LD_AUDIT "${app[@]}"
errnos=(12)
settings=("EXECALIGN_LOG=$TMP/log")
all_of LD_AUDIT "$FIXTURES/app" call
