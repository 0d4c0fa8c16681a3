# SPDX-License-Identifier: MIT
# shim/: libexecalign.so, freestanding, for the native machine and for aarch64.

SHIM_SOURCES := $(wildcard shim/*.c) $(CORE_SOURCES)
SHIM := $(BUILD)/libexecalign.so
SHIM_AARCH64 := $(BUILD)/aarch64/libexecalign.so
CC_AARCH64 ?= aarch64-linux-gnu-gcc

# No libc: no stack protector (its canary is in TLS), no calls but those that text.c answers.
# Unwind tables only for debuggers (.debug_frame); mmap alone is on the stack of whoever is
# interrupted by a profiler's signal, and gets its own.
# gcc must also be told not to compile memcpy's loop into a call of memcpy.
SHIM_CC_IS_CLANG = $(findstring clang,$(shell $(CC) --version))
SHIM_CFLAGS = $(COMMON_CFLAGS) -Os -g -fPIC -ffreestanding -fvisibility=hidden \
	-fno-stack-protector -fno-common -ffunction-sections -fdata-sections \
	-fno-asynchronous-unwind-tables -fno-unwind-tables -fomit-frame-pointer
SHIM_GCC_CFLAGS = -fno-tree-loop-distribute-patterns
SHIM_LDFLAGS = -shared -nostdlib -Wl,-soname,libexecalign.so \
	-Wl,--version-script=shim/libexecalign.map -Wl,-z,initfirst -Wl,-z,now -Wl,-z,relro \
	-Wl,-z,noexecstack -Wl,-z,defs -Wl,--hash-style=gnu -Wl,--gc-sections -Wl,--build-id=sha1

all: $(SHIM)

$(SHIM) $(SHIM_AARCH64): shim/libexecalign.map shim/shim.mk

# Control-flow protection: indirect branch tracking and shadow stack, BTI and pointer signing.
SHIM_AARCH64_CFLAGS := -mbranch-protection=standard -mno-outline-atomics
SHIM_AARCH64_LDFLAGS := -Wl,-z,force-bti
SHIM_CC_IS_X86_64 = $(filter x86_64-%,$(shell $(CC) -dumpmachine))
SHIM_NATIVE_CFLAGS = $(if $(SHIM_CC_IS_X86_64),-fcf-protection=full,$(SHIM_AARCH64_CFLAGS))
SHIM_NATIVE_LDFLAGS = $(if $(SHIM_CC_IS_X86_64),,$(SHIM_AARCH64_LDFLAGS))

$(BUILD)/obj/shim/%.o: %.c shim/shim.mk | $(BUILD)/deps/shim
	@mkdir -p $(@D)
	$(CC) $(SHIM_CFLAGS) $(SHIM_NATIVE_CFLAGS) $(if $(SHIM_CC_IS_CLANG),,$(SHIM_GCC_CFLAGS)) \
		-c -o $@ $<

$(BUILD)/obj/shim/shim/mapping.o $(BUILD)/obj/shim-aarch64/shim/mapping.o: \
	SHIM_CFLAGS += -fasynchronous-unwind-tables -fno-omit-frame-pointer

$(SHIM): $(SHIM_SOURCES:%.c=$(BUILD)/obj/shim/%.o)
	$(CC) $(SHIM_LDFLAGS) $(SHIM_NATIVE_LDFLAGS) -o $@ $(filter %.o,$^)

.PHONY: shim-aarch64
shim-aarch64: $(SHIM_AARCH64)

$(BUILD)/obj/shim-aarch64/%.o: %.c shim/shim.mk | $(BUILD)/deps/shim-aarch64
	@mkdir -p $(@D)
	$(CC_AARCH64) $(SHIM_CFLAGS) $(SHIM_GCC_CFLAGS) $(SHIM_AARCH64_CFLAGS) -c -o $@ $<

$(SHIM_AARCH64): $(SHIM_SOURCES:%.c=$(BUILD)/obj/shim-aarch64/%.o)
	@mkdir -p $(@D)
	$(CC_AARCH64) $(SHIM_LDFLAGS) $(SHIM_AARCH64_LDFLAGS) -o $@ $(filter %.o,$^)

$(BUILD)/deps/shim:
	@mk/deps.sh gcc libc6-dev linux-libc-dev
	@mkdir -p $(@D) && touch $@

$(BUILD)/deps/shim-aarch64:
	@mk/deps.sh gcc-aarch64-linux-gnu libc6-dev-arm64-cross linux-libc-dev-arm64-cross
	@mkdir -p $(@D) && touch $@
