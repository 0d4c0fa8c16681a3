/* SPDX-License-Identifier: MIT */
/*
 * sys.h - raw system calls; the only way the shim talks to anything
 *
 * Inside the shim there is nothing but the kernel: no libc, no errno. Every call returns the kernel's
 * value, -errno on failure. Each architecture's header defines sys_call6() and the numbers.
 */
#ifndef EA_SHIM_SYS_H
#define EA_SHIM_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/stat.h>

#if defined(__x86_64__)
#include "sys_x86_64.h"
#elif defined(__aarch64__)
#include "sys_aarch64.h"
#else
#error "the shim supports x86-64 and aarch64"
#endif

/* Newer than some headers. */
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* The kernel's own O_CLOEXEC; fcntl.h of the libc is not available here. */
#define SYS_O_CLOEXEC 02000000
#define SYS_O_NONBLOCK 04000
#define SYS_O_NOCTTY 0400
#define SYS_O_APPEND 02000
#define SYS_O_CREAT 0100
#define SYS_O_WRONLY 01

static inline long sys_open(const char *path, int flags, int mode)
{
	return sys_call6(__NR_openat, AT_FDCWD, (long)path, flags, mode, 0, 0);
}

static inline long sys_close(int fd)
{
	return sys_call6(__NR_close, fd, 0, 0, 0, 0, 0);
}

static inline long sys_read(int fd, void *buf, size_t bytes)
{
	return sys_call6(__NR_read, fd, (long)buf, (long)bytes, 0, 0, 0);
}

static inline long sys_pread(int fd, void *buf, size_t bytes, uint64_t offset)
{
	return sys_call6(__NR_pread64, fd, (long)buf, (long)bytes, (long)offset, 0, 0);
}

static inline long sys_write(int fd, const void *buf, size_t bytes)
{
	return sys_call6(__NR_write, fd, (long)buf, (long)bytes, 0, 0, 0);
}

static inline long sys_readlink(const char *path, char *buf, size_t bytes)
{
	return sys_call6(__NR_readlinkat, AT_FDCWD, (long)path, (long)buf, (long)bytes, 0, 0);
}

static inline long sys_mmap(
	uint64_t addr, uint64_t bytes, int prot, int flags, int fd, uint64_t offset)
{
	return sys_call6(__NR_mmap, (long)addr, (long)bytes, prot, flags, fd, (long)offset);
}

static inline long sys_munmap(uint64_t addr, uint64_t bytes)
{
	return sys_call6(__NR_munmap, (long)addr, (long)bytes, 0, 0, 0, 0);
}

static inline long sys_madvise(uint64_t addr, uint64_t bytes, int advice)
{
	return sys_call6(__NR_madvise, (long)addr, (long)bytes, advice, 0, 0, 0);
}

static inline long sys_getpid(void)
{
	return sys_call6(__NR_getpid, 0, 0, 0, 0, 0, 0);
}

static inline long sys_execve(const char *path, char *const *argv, char *const *envp)
{
	return sys_call6(__NR_execve, (long)path, (long)argv, (long)envp, 0, 0, 0);
}

static inline long sys_prctl(int option, uint64_t argument)
{
	return sys_call6(__NR_prctl, option, (long)argument, 0, 0, 0, 0);
}

static inline long sys_getrusage(int who, void *usage)
{
	return sys_call6(__NR_getrusage, who, (long)usage, 0, 0, 0, 0);
}

static inline long sys_fadvise(int fd, uint64_t offset, uint64_t bytes, int advice)
{
	return sys_call6(__NR_fadvise64, fd, (long)offset, (long)bytes, advice, 0, 0);
}

static inline long sys_getrandom(void *buf, size_t bytes, unsigned int flags)
{
	return sys_call6(__NR_getrandom, (long)buf, (long)bytes, flags, 0, 0, 0);
}

static inline long sys_wait(int pid, int *status, int options)
{
	return sys_call6(__NR_wait4, pid, (long)status, options, 0, 0, 0);
}

/* fork: a copy-on-write child that raises no signal when it ends (clone without exit signal). */
static inline long sys_fork_silently(unsigned long flags)
{
	return sys_call6(__NR_clone, (long)flags, 0, 0, 0, 0, 0);
}

__attribute__((noreturn)) static inline void sys_exit(int status)
{
	for (;;)
		sys_call6(__NR_exit_group, status, 0, 0, 0, 0, 0);
}

static inline int sys_is_error(long value)
{
	return (unsigned long)value > -4096UL;
}

#endif
