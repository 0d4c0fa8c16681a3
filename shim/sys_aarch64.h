/* SPDX-License-Identifier: MIT */
/* sys_aarch64.h - svc #0, number in x8, arguments in x0 to x5 (arch/arm64/kernel/entry.S) */
#ifndef EA_SHIM_SYS_AARCH64_H
#define EA_SHIM_SYS_AARCH64_H

#define SYS_MACHINE 183 /* EM_AARCH64 */

static inline long sys_call6(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory", "cc");
	return x0;
}

#endif
