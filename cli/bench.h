/* SPDX-License-Identifier: MIT */
/*
 * bench.h - the benchmarks; each is one file with one entry point
 */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

/* Each takes its arguments with argv[0] being the benchmark's name and returns the exit code. */
int bench_app_main(int argc, char **argv);
int bench_exec_main(int argc, char **argv);

#endif
