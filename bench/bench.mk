# SPDX-License-Identifier: MIT
# bench/: benchmarks, and the tools that they and the examples measure with.

BENCH_BUILD := $(BUILD)/bench
BENCH_TOOLS := $(BENCH_BUILD)/interleave $(BENCH_BUILD)/evict
BENCH_FIXTURES := $(BENCH_BUILD)/audit-nothing.so $(BENCH_BUILD)/plt-loop \
	$(BENCH_BUILD)/private-memory \
	$(BENCH_BUILD)/big/do-nothing $(BENCH_BUILD)/small/do-nothing

.PHONY: bench-startup

# BENCH_FLAGS=--json prints JSON; BENCH_FLAGS='--rounds 40' is quicker and less exact.
bench-startup: all $(BENCH_TOOLS) $(BENCH_FIXTURES) | $(BUILD)/deps/bench
	@bench/startup.sh $(BUILD) $(BENCH_FLAGS)

$(BUILD)/deps/bench: bench/bench.mk
	@mk/deps.sh binutils clang gcc gdb libc6-dev strace
	@mkdir -p $(@D) && touch $@

$(BUILD)/deps/bench-tools: bench/bench.mk
	@mk/deps.sh gcc libc6-dev
	@mkdir -p $(@D) && touch $@

$(BENCH_TOOLS): $(BENCH_BUILD)/%: bench/%.c | $(BUILD)/deps/bench-tools
	@mkdir -p $(@D)
	$(CC) $(COMMON_CFLAGS) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) -o $@ $< -lm

$(BENCH_BUILD)/private-memory: bench/fixtures/private-memory.c | $(BUILD)/deps/bench
	@mkdir -p $(@D)
	$(CC) $(COMMON_CFLAGS) $(CFLAGS) -o $@ $<

$(BENCH_BUILD)/audit-nothing.so: bench/fixtures/audit-nothing.c | $(BUILD)/deps/bench
	@mkdir -p $(@D)
	$(CC) $(COMMON_CFLAGS) $(CFLAGS) -Wno-missing-prototypes -fPIC -ffreestanding -nostdlib -shared -o $@ $<

$(BENCH_BUILD)/libplt-step.so: bench/fixtures/plt-step.c | $(BUILD)/deps/bench
	@mkdir -p $(@D)
	$(CC) $(COMMON_CFLAGS) $(CFLAGS) -fPIC -shared -o $@ $<

# Lazy binding and a real PLT, whatever the compiler's defaults are.
$(BENCH_BUILD)/plt-loop: bench/fixtures/plt-loop.c $(BENCH_BUILD)/libplt-step.so
	$(CC) $(COMMON_CFLAGS) $(CFLAGS) -fplt -Wl,-z,lazy -Wl,-rpath,'$$ORIGIN' -o $@ $< \
		-L$(BENCH_BUILD) -lplt-step

# 48 libraries that are nothing but text, in two sizes: one that holds a whole block of 2 MiB
# wherever it begins, and one that holds none. Sparse, so that they take no room on the disk.
BENCH_TEXT_BYTES_big := 4 << 20
BENCH_TEXT_BYTES_small := 4096
BENCH_NUMBERS := $(shell seq -w 48)

define BENCH_MANY
$(BENCH_NUMBERS:%=$(BENCH_BUILD)/$(1)/lib$(1)%.so): $(BENCH_BUILD)/$(1)/lib$(1)%.so: \
		bench/fixtures/only-text.S | $(BUILD)/deps/bench
	@mkdir -p $$(@D)
	@$$(CC) -nostdlib -shared -Wl,-soname,$$(@F) -DTEXT_NAME=$(1)$$* \
		-DTEXT_BYTES='$(BENCH_TEXT_BYTES_$(1))' -o $$@.full $$<
	@cp --sparse=always $$@.full $$@ && rm $$@.full

$(BENCH_BUILD)/$(1)/do-nothing: bench/fixtures/do-nothing.c \
		$(BENCH_NUMBERS:%=$(BENCH_BUILD)/$(1)/lib$(1)%.so)
	@$$(CC) $$(COMMON_CFLAGS) $$(CFLAGS) -Wl,--no-as-needed -Wl,-rpath,'$$$$ORIGIN' -o $$@ $$^
endef
$(eval $(call BENCH_MANY,big))
$(eval $(call BENCH_MANY,small))
