# SPDX-License-Identifier: MIT
# examples/: real programs under the shim.

.PHONY: run

run: all $(BENCH_TOOLS) | $(BUILD)/deps/examples
	@examples/clang/run.sh $(BUILD)

$(BUILD)/deps/examples: examples/examples.mk
	@mk/deps.sh clang jq libstdc++-12-dev
	@mkdir -p $(@D) && touch $@
