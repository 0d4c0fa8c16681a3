/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <unistd.h>

#include "format.h"
#include "io.h"
#include "machine.h"
#include "message.h"

#if defined(__x86_64__)
#define NATIVE_ELF_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define NATIVE_ELF_MACHINE EM_AARCH64
#else
#define NATIVE_ELF_MACHINE EM_NONE
#endif

int machine_read(struct machine *out)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	char size[FORMAT_BYTES_MAX];

	uname(&out->uname);
	out->elf_machine = NATIVE_ELF_MACHINE;
	out->geometry = (struct ea_geometry){.page_bytes = page_bytes};
	if (ea_geometry(out->elf_machine, page_bytes, &out->geometry)) {
		message(out->uname.machine,
			"no block sizes are known for this machine with pages of %s; "
			"x86-64 and arm64 are supported",
			format_bytes(page_bytes, size));
		return -EINVAL;
	}
	if (ea_release_parse(out->uname.release, &out->release)) {
		message(out->uname.release, "not a kernel release that begins with two numbers; "
					    "Linux is supported");
		return -EINVAL;
	}
	return 0;
}

int machine_block(const struct machine *machine, uint64_t bytes)
{
	return bytes == machine->geometry.contpte_bytes || bytes == machine->geometry.pmd_bytes;
}

uint64_t machine_available_bytes(void)
{
	uint64_t kib;

	return read_value("/proc/meminfo", "\nMemAvailable:", &kib) ? UNKNOWN_BYTES : kib * EA_KIB;
}

struct json_object *machine_json(const struct machine *machine)
{
	struct json_object *json = json_object_new_object();
	const struct ea_geometry *geometry = &machine->geometry;
	uint64_t contpte_bytes = geometry->contpte_bytes;

	json_object_object_add(
		json, "architecture", json_object_new_string(machine->uname.machine));
	json_object_object_add(json, "kernel", json_object_new_string(machine->uname.release));
	json_object_object_add(json, "page_bytes", json_bytes(geometry->page_bytes));
	json_object_object_add(json, "contpte_block_bytes",
		json_bytes(contpte_bytes ? contpte_bytes : UNKNOWN_BYTES));
	json_object_object_add(json, "pmd_block_bytes", json_bytes(geometry->pmd_bytes));
	return json;
}
