# Measurements. The programs are built by bench/Makefile; `capstan bench` runs them.

SUITES ?=

# The package that Haskell programs below are linked with, built once.
PACKAGE := $(BUILD)/bench/package
HOST_LIBRARY := $(shell find src src-task runtime cmm -name '*.hs' -o -name '*.[chS]' -o -name '*.cmm')

$(PACKAGE): $(HOST_LIBRARY) capstan.cabal src-task/capstan-task.cabal
	@mkdir -p $(@D)
	$(CABAL_RUN) build $(CABAL_FLAGS) lib:capstan
	@touch $@

# The Haskell host again, with the capstan package linked in, as a user's program has it.
HOST_CAPSTAN := $(BUILD)/bench/bin/host-capstan
HOST_SOURCES := $(wildcard bench/host/*.hs) bench/host/region.c
PACKAGES = $(BUILD)/cabal/dist/packagedb/ghc-$(shell $(GHC) --numeric-version)

$(HOST_CAPSTAN): $(HOST_SOURCES) $(PACKAGE)
	@mkdir -p $(@D) $(BUILD)/bench/host-capstan
	$(GHC) -v0 -Wall -Wcompat -O1 -threaded -fno-omit-yields -ibench/host -package-db $(PACKAGES) \
	    -package capstan -outputdir $(BUILD)/bench/host-capstan -optc-O2 -optc-fopenmp \
	    $(HOST_SOURCES) -o $@ -lm

# Haskell actions by Capstan.Event and by GHC.Event.
EVENTS_HASKELL := $(BUILD)/bench/bin/events-haskell
EVENTS_SOURCE := bench/events/haskell/Messages.hs

$(EVENTS_HASKELL): $(EVENTS_SOURCE) $(PACKAGE)
	@mkdir -p $(@D) $(BUILD)/bench/events-haskell
	$(GHC) -v0 -Wall -Wcompat -O1 -threaded -rtsopts -package-db $(PACKAGES) -package capstan \
	    -outputdir $(BUILD)/bench/events-haskell $(EVENTS_SOURCE) -o $@

# What a callback costs: Haskell's own function pointers, and those of the package.
CALLBACK_CAPSTAN := $(BUILD)/bench/bin/callback-capstan
CALLBACK_SOURCES := bench/callback/Main.hs bench/host/Bench.hs bench/callback/regions.c

$(CALLBACK_CAPSTAN): $(CALLBACK_SOURCES) $(PACKAGE)
	@mkdir -p $(@D) $(BUILD)/bench/callback-capstan
	$(GHC) -v0 -Wall -Wcompat -O1 -threaded -DCAPSTAN -package-db $(PACKAGES) -package capstan \
	    -outputdir $(BUILD)/bench/callback-capstan -optc-O2 -optc-fopenmp $(CALLBACK_SOURCES) -o $@

# Calls, batches, arrays, pauses; and sequential programs that use nothing of the package.
HASKELL_CAPSTAN := $(BUILD)/bench/bin/haskell-capstan
SEQUENTIAL_CAPSTAN := $(BUILD)/bench/bin/sequential-capstan
HASKELL_FILES_BENCH := $(shell find bench/haskell -name '*.hs' -o -name '*.c' -o -name llvm-folder) bench/host/Bench.hs

$(HASKELL_CAPSTAN): $(HASKELL_FILES_BENCH) $(PACKAGE)
	@mkdir -p $(@D) $(BUILD)/bench/haskell-capstan
	$(GHC) -v0 -Wall -Wcompat -O1 -threaded -rtsopts -fno-omit-yields -ibench/haskell -ibench/haskell/with -ibench/host \
	    -ibench/haskell/$$(bench/haskell/llvm-folder $(GHC)) -package-db $(PACKAGES) -package capstan -outputdir $(BUILD)/bench/haskell-capstan \
	    -optc-O2 -optc-fopenmp bench/haskell/Main.hs bench/haskell/*.c -o $@ -lm

# -rtsopts: it is asked for its memory. The old one goes first, as GHC does not link again when the package alone is newer.
$(SEQUENTIAL_CAPSTAN): $(HASKELL_FILES_BENCH) $(PACKAGE)
	@mkdir -p $(@D) $(BUILD)/bench/sequential-capstan
	rm -f $@
	$(GHC) -v0 -Wall -Wcompat -O1 -rtsopts -ibench/haskell/sequential -package-db $(PACKAGES) \
	    -package capstan -outputdir $(BUILD)/bench/sequential-capstan \
	    bench/haskell/sequential/Main.hs -o $@

# What a foreign call costs. The modules of capstan-bench are compiled with the program, which uses hidden ones, too.
FFI_BENCH := $(BUILD)/bench/bin/ffi
FFI_FOLDERS := bench/ffi bench/host examples/ffi-puzzle examples/wavelet src-bench tests/hs/ffi-bench
FFI_SOURCES := $(shell find $(FFI_FOLDERS) -name '*.hs' -o -name '*.[ch]')
FFI_C_FILES := examples/ffi-puzzle/copy.c examples/wavelet/lattice.c $(wildcard src-bench/cbits/*.c)

$(FFI_BENCH): $(FFI_SOURCES) $(PACKAGE)
	@mkdir -p $(@D) $(BUILD)/bench/ffi
	$(GHC) -v0 -Wall -Wcompat -O1 -threaded -rtsopts $(FFI_FOLDERS:%=-i%) -Isrc-bench/cbits -package-db $(PACKAGES) \
	    -package capstan -outputdir $(BUILD)/bench/ffi -optc-O2 -optc-std=gnu11 -optc-D_GNU_SOURCE -optc-fopenmp \
	    bench/ffi/Ffi.hs $(FFI_C_FILES) -o $@ -lm

# Tasks in Haskell, and their peers, in one program. Each example is given as many sizes as it names.
HASKELL_TASKS := $(BUILD)/bench/bin/haskell-tasks
TASKS_FOLDERS = bench/haskell-tasks bench/host examples/tasks tests/ports tests/ports/$(if $(filter scheduler,$(HASKELL_LIBRARIES)),with,without)-scheduler
TASKS_SOURCES := $(wildcard bench/haskell-tasks/*.hs bench/haskell-tasks/*.c examples/tasks/*.hs) bench/host/Bench.hs \
    $(shell find tests/ports -name '*.hs')

$(HASKELL_TASKS): $(TASKS_SOURCES) $(PACKAGE)
	@mkdir -p $(@D) $(BUILD)/bench/haskell-tasks
	$(GHC) -v0 -Wall -Wcompat -Wno-incomplete-uni-patterns -O2 -threaded -no-hs-main \
	    $(TASKS_FOLDERS:%=-i%) -package-db $(PACKAGES) -package capstan -outputdir $(BUILD)/bench/haskell-tasks -optc-O2 -optc-fopenmp \
	    bench/haskell-tasks/Main.hs bench/haskell-tasks/*.c -o $@

# if_there PROGRAM,LIBRARIES: the program, or a word on what it lacks. Debian 13 has no repa, sid no monad-par either.
HASKELL_LIBRARIES = $(shell ghc-pkg list --simple-output --names-only)
if_there = $(if $(filter-out $(HASKELL_LIBRARIES),$(2)),$(info $(notdir $(1)) is not built: there is no \
    $(filter-out $(HASKELL_LIBRARIES),$(2))),$(1))

.PHONY: bench bench-dependencies bench-programs bench-check bench-simulate
bench-dependencies:
	sh tools/install-dependencies build check bench

bench-programs: bench-dependencies $(HOST_CAPSTAN) $(CALLBACK_CAPSTAN) $(HASKELL_CAPSTAN) $(SEQUENTIAL_CAPSTAN) $(EVENTS_HASKELL) $(LIBGOMP)
	$(MAKE) --no-print-directory lib $(call if_there,$(FFI_BENCH),criterion repa) $(call if_there,$(HASKELL_TASKS),monad-par repa unliftio)
	$(MAKE) --no-print-directory -C bench all events simulate

bench: lib rts command bench-programs ## Measures Capstan beside the other runtimes: SUITES="overhead tasks".
	$(COMMAND) bench $(SUITES)

bench-check: lib rts command bench-programs ## Judges the required figures of bench/targets.json.
	$(COMMAND) bench --check $(SUITES)

bench-simulate: command lib bench-programs ## Counts line transfers for 2 to 1024 threads.
	$(COMMAND) bench --simulate

# Domainslib beside ours: built where OCaml 5 is, in a root of Debian sid below build/.
.PHONY: bench-ocaml
bench-ocaml: ## Builds OCaml 5's Domainslib programs for the suite haskell-tasks (root, network).
	sh tools/install-dependencies release # debootstrap
	sh bench/haskell-tasks/ocaml/build $(abspath $(BUILD)/ocaml) $(BUILD)/bench/bin/domainslib
