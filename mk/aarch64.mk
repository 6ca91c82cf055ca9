# The C library for AArch64, compiled by Debian's cross compiler; its tests are run by qemu
# (docs/porting.md).

AARCH64 := $(BUILD)/aarch64
AARCH64_MAKE = $(MAKE) --no-print-directory BUILD=$(AARCH64) CC=aarch64-linux-gnu-gcc \
    AR=aarch64-linux-gnu-ar

.PHONY: aarch64 check-aarch64 check-aarch64-suite check-aarch64-haskell
aarch64: ## The C library for AArch64 alone: build/aarch64/lib/libgomp.so.1.0.0.
	@sh tools/install-dependencies aarch64
	@$(AARCH64_MAKE) lib

check-aarch64: aarch64 ## The C tests for AArch64, by qemu; ALL=1: also GCC's whole suite, and Haskell's.
	@$(AARCH64_MAKE) $(AARCH64)/obj/check/libcapstan.a
	@tools/with-processor aarch64 $(RUN_TESTS) --processor aarch64
	$(if $(ALL),@tools/with-processor aarch64 tests/conformance/suite.sh aarch64)
	$(if $(ALL),@$(MAKE) --no-print-directory check-aarch64-haskell)

check-aarch64-suite: aarch64 ## A part of GCC's test suite for AArch64, by qemu.
	@tools/with-processor aarch64 tests/conformance/part.sh aarch64

check-aarch64-haskell: ## The Haskell test suites for AArch64, by qemu; SUITES=names chooses some.
	@tools/in-processor aarch64 $(SUITES)
