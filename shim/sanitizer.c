/* SPDX-License-Identifier: MIT */
/*
 * sanitizer.c - let AddressSanitizer start although a preloaded library comes before it
 *
 * A program linked with the shared ASan runtime ends itself when another library precedes the
 * runtime in the list (compiler-rt, asan_linux.cpp, AsanCheckDynamicRTPrereqs()): that library might
 * have taken its malloc. The shim takes nothing away: its mmap
 * goes on to ASan's (mapping.c). ASan asks this function for default
 * options; one that the program defines itself, and ASAN_OPTIONS, still come first.
 */
const char *__asan_default_options(void);

__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}
