/* SPDX-License-Identifier: MIT */
/*
 * fuzz_release.c - the input is what uname(2) says the kernel's release is
 */
#include <stdlib.h>
#include <string.h>

#include "core/kernel.h"
#include "invariants.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ea_release release = {0};
	char *text, *end;

	text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!ea_release_parse(text, &release)) {
		REQUIRE(strtoull(text, &end, 10) == release.major && *end == '.');
		REQUIRE(strtoull(end + 1, NULL, 10) == release.minor);
		REQUIRE(ea_release_at_least(&release, release.major, release.minor));
	}
	free(text);
	return 0;
}
