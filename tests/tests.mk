# SPDX-License-Identifier: MIT
# tests/: make check, make fuzz, and their parts check-unit, check-fuzz, check-native, check-qemu-quick,
# check-kernel-quick.
#
# tests/run.sh runs everything and counts; what it runs is built here. TEST_JOBS tests run at a
# time; FUZZ_SECONDS are shared out among the fuzz targets.

TEST_JOBS ?= 2
FUZZ_SECONDS ?= 60
TEST_BUILD := $(BUILD)/tests
TEST_ENV = BUILD=$(BUILD) FUZZ_SECONDS=$(FUZZ_SECONDS)

# test_objects NAME COMPILER FLAGS DEPS - objects of any source in $(BUILD)/obj/NAME
define test_objects
$(BUILD)/obj/$(1)/%.o: %.c | $(BUILD)/deps/$(4)
	@mkdir -p $$(@D)
	$(2) $$(COMMON_CFLAGS) $(3) -c -o $$@ $$<
endef

# --- The shim's sources in a program that has a libc: tests/unit/shim_double.c is its kernel

# Those that need no process of their own, and what promotion.c calls.
SHIM_TESTED := $(addprefix shim/,advise.c environment.c forget.c link_map.c loaded.c log.c object.c own_loader.c \
	process.c \
	promotion.c record_reader.c settings.c startup.c status.c text.c)

# text.c defines three for want of a libc; the others would be libc's, ld.so's and the linker's.
SHIM_RENAMED := memcpy memset memcmp _r_debug _DYNAMIC
# Where the kernel's headers are, for a compiler that brings only its libc's (musl-gcc).
SHIM_TEST_FLAGS = -ffreestanding -include tests/unit/shim_calls.h \
	$(foreach name,$(SHIM_RENAMED),-D$(name)=shim_$(name))
KERNEL_HEADERS = -idirafter /usr/include/$(shell gcc -print-multiarch) -idirafter /usr/include

# shim_objects NAME COMPILER FLAGS DEPS - objects of shim/ in $(BUILD)/obj/NAME
define shim_objects
$(BUILD)/obj/$(1)/shim/%.o: shim/%.c | $(BUILD)/deps/$(4)
	@mkdir -p $$(@D)
	$(2) $$(COMMON_CFLAGS) $(3) $$(SHIM_TEST_FLAGS) -c -o $$@ $$<
endef

# --- Unit tests: the same sources in four programs

UNIT_SOURCES := $(wildcard tests/unit/*.c) $(CORE_SOURCES) $(SHIM_TESTED) cli/statistics.c
UNIT_PROGRAMS := $(addprefix $(TEST_BUILD)/unit-,native clang musl aarch64)
SANITIZE_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all

# unit_program NAME COMPILER FLAGS LIBRARIES SHIM_FLAGS
define unit_program
$(call test_objects,unit-$(1),$(2),$(3),unit)
$(call shim_objects,unit-$(1),$(2),$(3) $(5),unit)
$(TEST_BUILD)/unit-$(1): $$(UNIT_SOURCES:%.c=$(BUILD)/obj/unit-$(1)/%.o)
	@mkdir -p $$(@D)
	$(2) $(3) -o $$@ $$^ $(4)
endef

$(eval $(call unit_program,native,$$(CC),$$(CFLAGS) -DUNIT_CRITERION,-lcriterion))
$(eval $(call unit_program,clang,clang,-O1 -g $(SANITIZE_FLAGS)))
$(eval $(call unit_program,musl,musl-gcc,-O2 -g -static,,$$(KERNEL_HEADERS)))
$(eval $(call unit_program,aarch64,aarch64-linux-gnu-gcc,-O2 -g -static))

$(BUILD)/deps/unit: mk/deps.sh
	@mkdir -p $(@D)
	@mk/deps.sh gcc libc6-dev libcriterion-dev clang libclang-rt-dev musl-tools \
		gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
	@touch $@

# --- Fuzzing: one program per tests/fuzz/fuzz_TARGET.c, and the seeds that they begin with

FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_PROGRAMS := $(FUZZ_TARGETS:%=$(TEST_BUILD)/fuzz-%)
FUZZ_COMMON := tests/fuzz/invariants.c $(CORE_SOURCES)
# What a target needs besides.
FUZZ_SOURCES_maps := cli/io.c cli/maps.c cli/mounts.c
FUZZ_SOURCES_environment := $(SHIM_TESTED) \
	$(addprefix tests/unit/,elf_builder.c process_block.c shim_double.c)
FUZZ_SOURCES_pattern := shim/text.c tests/unit/pattern_model.c
FUZZ_FLAGS := -O1 -g $(SANITIZE_FLAGS)
FUZZ_SEEDS := $(BUILD)/fuzz/seeds/stamp

# fuzz_program TARGET
define fuzz_program
$(TEST_BUILD)/fuzz-$(1): $(BUILD)/obj/fuzz/tests/fuzz/fuzz_$(1).o \
		$$(patsubst %.c,$(BUILD)/obj/fuzz/%.o,$$(FUZZ_COMMON) $$(FUZZ_SOURCES_$(1)))
	@mkdir -p $$(@D)
	clang $$(FUZZ_FLAGS) -fsanitize=fuzzer -o $$@ $$^
endef

$(eval $(call test_objects,fuzz,clang,$(FUZZ_FLAGS) -D_GNU_SOURCE -fsanitize=fuzzer-no-link,fuzz))
$(eval $(call shim_objects,fuzz,clang,$(FUZZ_FLAGS) -fsanitize=fuzzer-no-link,fuzz))
$(foreach target,$(FUZZ_TARGETS),$(eval $(call fuzz_program,$(target))))

$(eval $(call test_objects,seeds,$$(CC),$$(CFLAGS),fuzz))
$(TEST_BUILD)/seeds: $(BUILD)/obj/seeds/tests/fuzz/seeds.o \
		$(BUILD)/obj/seeds/tests/unit/elf_builder.o $(BUILD)/obj/seeds/core/image.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^

$(FUZZ_SEEDS): $(TEST_BUILD)/seeds
	@rm -rf $(@D)
	@mkdir -p $(@D)
	$< $(@D)
	@touch $@

$(BUILD)/deps/fuzz: mk/deps.sh
	@mkdir -p $(@D)
	@mk/deps.sh gcc libc6-dev clang libclang-rt-dev
	@touch $@

# --- Scenarios: their programs are in native.mk

include tests/native/native.mk

# --- arm64 kernels under QEMU: see qemu.mk

include tests/qemu/qemu.mk

# --- Patched dynamic loaders: see loader.mk

include tests/loader/loader.mk

# --- Debian packages: see deb.mk

include tests/deb/deb.mk

# --- Running them

.PHONY: check-unit check-fuzz check-native

check-unit: $(UNIT_PROGRAMS)
	@$(TEST_ENV) tests/run.sh -j $(TEST_JOBS) unit

check-fuzz fuzz: $(FUZZ_PROGRAMS) $(FUZZ_SEEDS)
	@$(TEST_ENV) tests/run.sh -j $(TEST_JOBS) fuzz

check-native: all fixtures
	@$(TEST_ENV) tests/run.sh -j $(TEST_JOBS) native

check: $(UNIT_PROGRAMS) $(FUZZ_PROGRAMS) $(FUZZ_SEEDS) all fixtures shim-aarch64 cli-aarch64 \
		| $(BUILD)/deps/qemu $(BUILD)/deps/loader
	@$(TEST_ENV) tests/run.sh -j $(TEST_JOBS) unit fuzz native musl qemu kernel
