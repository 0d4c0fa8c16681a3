#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh TARGET SECONDS - fuzz one target, beginning with the seeds and what earlier runs found
#
# Crashing inputs are left in $BUILD/fuzz/TARGET/. Exit: 0 none was found, 1 there is one.
set -eu

target=$1
seconds=$2
build=${BUILD:-build}
program=$build/tests/fuzz-$target
found=$build/fuzz/$target
mkdir -p "$found/corpus"

seeds=()
for directory in "$build/fuzz/seeds/$target" "tests/fuzz/corpus/$target"; do
	[ ! -d "$directory" ] || seeds+=("$directory")
done

status=0
"$program" -max_total_time="$seconds" -max_len=4096 -timeout=5 -print_final_stats=1 \
	-artifact_prefix="$found/" "$found/corpus" "${seeds[@]}" >"$found/log" 2>&1 || status=$?

executions=$(sed -n 's/^stat::number_of_executed_units: //p' "$found/log")
if [ "$status" != 0 ]; then
	tail -n 60 "$found/log"
	echo "FAILED: exit status $status; the input is in $found"
	exit 1
fi
echo "NOTE: ${executions:-no} executions in $seconds s"
[ "${executions:-0}" -gt 0 ]
