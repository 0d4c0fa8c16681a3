# SPDX-License-Identifier: MIT
# core/: pure logic, compiled separately into each user: the shim (freestanding, per machine), the
# command and the tests. CORE_SOURCES is what they compile.

CORE_SOURCES := $(wildcard core/*.c)
