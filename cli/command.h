/* SPDX-License-Identifier: MIT */
/*
 * command.h - the commands; each is one file with one entry point
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

/*
 * Each takes its arguments with argv[0] being the command's name and returns the exit code.
 */
int run_main(int argc, char **argv);
int report_main(int argc, char **argv);
int doctor_main(int argc, char **argv);
int elf_main(int argc, char **argv);
int prime_main(int argc, char **argv);
int bench_main(int argc, char **argv);

#endif
