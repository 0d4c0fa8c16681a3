/* SPDX-License-Identifier: MIT */
/* sys_x86_64.h - the syscall instruction (arch/x86/entry/entry_64.S: rcx and r11 are clobbered) */
#ifndef EA_SHIM_SYS_X86_64_H
#define EA_SHIM_SYS_X86_64_H

#define SYS_MACHINE 62 /* EM_X86_64 */

static inline long sys_call6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#endif
