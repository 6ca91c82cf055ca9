# Tests. What is a test and how it is run: tests/README.md and tools/run-tests.

SANITIZER_ARCHIVES := $(foreach variant,check thread address undefined,$(BUILD)/obj/$(variant)/libcapstan.a)
TEST_DEPENDENCIES := build demo check
FILTER ?=
RUN_TESTS = python3 tools/run-tests --jobs $(JOBS) $(if $(FILTER),--filter '$(FILTER)')

.PHONY: test-dependencies check check-long check-stock check-conformance check-programs check-mutants \
	check-model
test-dependencies:
	sh tools/install-dependencies $(TEST_DEPENDENCIES)

# The installation comes first, so the rest is a make of its own.
check: test-dependencies ## Builds and passes every test; FILTER=regex chooses some.
	@$(MAKE) --no-print-directory all $(SANITIZER_ARCHIVES)
	@$(RUN_TESTS)

check-long: test-dependencies ## The long tests as well, and GCC's own test suite.
	@$(MAKE) --no-print-directory all $(SANITIZER_ARCHIVES)
	@$(RUN_TESTS) --long

check-stock: test-dependencies ## The C tests on the system's libgomp, which must pass them too.
	@$(RUN_TESTS) --on stock

check-conformance: test-dependencies ## GCC's own test suite; REPEAT=5: five rounds, under six settings.
	@$(MAKE) --no-print-directory all
	@$(if $(REPEAT),JOBS=$(JOBS) tools/conformance-rounds $(REPEAT),python3 tools/run-tests --long --filter '^conformance/')

check-mutants: test-dependencies ## Breaks the runtime on purpose; a test must notice each time.
	@$(MAKE) --no-print-directory all $(BUILD)/obj/thread/libcapstan.a
	@tests/c/mutants/check-mutants --jobs $(JOBS)

check-model: test-dependencies ## Searches the executions of each protocol; ALL=1: ten times as many.
	@tests/c/model/check-model $(if $(ALL),--all)

check-programs: test-dependencies ## Two dozen real programs, installed from Debian and PyPI.
	@$(MAKE) --no-print-directory all
	@TESTS_INSTALL=1 python3 tools/run-tests --long --filter '^programs/'
