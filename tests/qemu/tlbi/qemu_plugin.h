/* SPDX-License-Identifier: MIT */
/*
 * qemu_plugin.h - what count.c uses of QEMU's interface for plugins
 *
 * Debian packages QEMU without the header that declares it; these are our own words for the binary
 * interface of the few functions that we call. A plugin says which version of the interface it was
 * made for, and QEMU loads no other: 1 up to QEMU 8.2, 2 in 9.0, 3 or more from 9.1 on, where an
 * instruction is copied to the caller. PLUGIN_API, set by make.sh, is that version.
 */
#ifndef QEMU_PLUGIN_H
#define QEMU_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define PLUGIN_EXPORT __attribute__((visibility("default")))

/* The callback does not look at the guest's registers. */
#define QEMU_PLUGIN_CB_NO_REGS 0

struct qemu_plugin_tb;   /* a block of instructions that is being translated */
struct qemu_plugin_insn; /* one of them */
struct qemu_info_t;      /* about the machine */

/* What QEMU looks for in a plugin. A status other than 0 ends QEMU. */
PLUGIN_EXPORT extern int qemu_plugin_version;
PLUGIN_EXPORT int qemu_plugin_install(
	uint64_t id, const struct qemu_info_t *info, int argc, char **argv);

/* What a plugin finds in QEMU. */
void qemu_plugin_register_vcpu_tb_trans_cb(
	uint64_t id, void (*translated)(uint64_t id, struct qemu_plugin_tb *block));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
	void (*executed)(unsigned int vcpu, void *data), int flags, void *data);
#if PLUGIN_API < 3
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
#else
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction, void *copy, size_t bytes);
#endif

#endif
