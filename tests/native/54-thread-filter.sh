#!/bin/bash
# SPDX-License-Identifier: MIT
# A single thread puts itself under a seccomp filter that kills on calls that loading and mapping
# code do not need, and then loads and maps a large library. The main thread has no filter: the shim
# must look at the thread's own.
. "$(dirname "$0")/lib.sh"
misaligning_root

for call in stat prlimit getrandom madvise statfs readlink prctl sigmask; do
	compare_output "$FIXTURES/thread_filter" "$call" "$FIXTURES/libtext6m.so"
done
run_env=("EXECALIGN_LOG=$TMP/log")
compare_output "$FIXTURES/thread_filter" none "$FIXTURES/libtext6m.so"
