# The runtime in C: build/lib/libgomp.so.1.0.0, and archives of the same sources for tests.
#
# Every .c and .S file below runtime/ belongs to it, but for the rts substrate (haskell.mk),
# what only Haskell code calls (runtime/haskell) and other systems and processors.

# The processor that the compiler makes code for: what differs by processor is in a folder of its name. Without a compiler it is
# the machine's own, for a target may install the compiler first.
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
ARCH := $(firstword $(subst -, ,$(or $(MACHINE),$(shell uname -m))))
$(if $(wildcard runtime/platform/$(ARCH)/processor.h),,$(error Capstan does not know the processor \
    $(ARCH): docs/porting.md says what it needs))
LIB_SOURCES := $(sort $(filter-out runtime/substrate/rts/% runtime/haskell/%, \
    $(wildcard runtime/*/*.c runtime/abi/*/*.c runtime/core/*/*.c runtime/substrate/pthread/*.c \
               runtime/platform/linux/*.c runtime/platform/$(ARCH)/*.[cS])))

# Language, warnings and visibility come from capstan.cabal; how to optimise is our own matter, as
# it is Cabal's there.
CABAL_CFLAGS := $(shell awk -f tools/cabal-field cc-options 'common runtime' capstan.cabal)
CABAL_INCLUDES := $(addprefix -I,$(shell awk -f tools/cabal-field include-dirs 'common runtime' capstan.cabal) \
    runtime/platform/$(ARCH))
$(if $(and $(CABAL_CFLAGS),$(CABAL_INCLUDES)),,$(error capstan.cabal has no flags for C))
CFLAGS ?= -O2 -g
WERROR ?=
NEEDS_COMPILER = $(if $(MACHINE),,$(error there is no C compiler here ($(CC)): $(HOW_TO_INSTALL)))
COMPILE = $(NEEDS_COMPILER)$(CC) $(CABAL_CFLAGS) $(CABAL_INCLUDES) $(CFLAGS) $(WERROR) -MMD -MP

# variant VARIANT,FLAGS: the objects of one way to compile everything, and an archive of them.
define variant
$(1)_OBJECTS := $$(LIB_SOURCES:%=$$(BUILD)/obj/$(1)/%.o)
$$(BUILD)/obj/$(1)/%.c.o: %.c capstan.cabal
	@mkdir -p $$(@D)
	$$(COMPILE) $(2) -c $$< -o $$@
$$(BUILD)/obj/$(1)/%.S.o: %.S capstan.cabal
	@mkdir -p $$(@D)
	$$(COMPILE) $(2) -c $$< -o $$@
$$(BUILD)/obj/$(1)/libcapstan.a: $$($(1)_OBJECTS)
	rm -f $$@
	$$(AR) -rcs $$@ $$^
-include $$($(1)_OBJECTS:.o=.d)
endef

$(eval $(call variant,lib,-fPIC -DCST_SHARED_LIBRARY))
# For tests, linked statically with the pthread substrate, all checks on.
$(eval $(call variant,check,-DCST_CHECK_LEVEL=2))
$(eval $(call variant,thread,-DCST_CHECK_LEVEL=2 -O1 -fsanitize=thread))
$(eval $(call variant,address,-DCST_CHECK_LEVEL=2 -O1 -fsanitize=address))
$(eval $(call variant,undefined,-DCST_CHECK_LEVEL=2 -O1 -fsanitize=undefined -fno-sanitize-recover=all))

# The symbol versions are GCC's and LLVM's; nodelete, because a thread may still run in here at dlclose. The library's own
# calls stay in it (Bsymbolic-functions): another runtime in the process, or a tracer before it, has some of the names. One
# file under all names: the dynamic linker knows a file that it has loaded, whatever it is called
# (docs/adr/0018-one-file-two-interfaces.md).
# Linux maps sixteen pages around each page that is used. So the code that runs while the library is loaded comes first,
# then the code of regions, and code that few programs call comes last. The constants stand beside the symbols, which
# the dynamic linker reads. The C library has a part that is linked in, with pthread_atfork.
LIBGOMP := $(BUILD)/lib/libgomp.so.1.0.0
VERSION_MAPS := runtime/abi/libgomp.map runtime/abi/kmp.map
named = $(filter $(addprefix $(BUILD)/obj/lib/runtime/,$(1)),$(lib_OBJECTS))
AT_LOAD := $(call named,platform/% core/process/% core/host/% core/budget/share.c.o core/wait/policy.c.o \
    core/team/threads.c.o substrate/loader.c.o adopt/adopt.c.o) \
    $(call named,$(addprefix core/settings/,config.c.o config_derive.c.o config_device.c.o config_kmp.c.o waiting.c.o))
IN_REGIONS := $(filter-out $(AT_LOAD),$(call named,core/team/% core/wait/% core/budget/permit.c.o core/base/bounds.c.o \
    core/task/make.c.o core/task/quiesce.c.o core/task/task_wait.c.o core/work/dispatch.c.o substrate/% \
    abi/gomp/region.c.o abi/omp/api.c.o))
BY_FEW := $(filter-out $(AT_LOAD),$(call named,event/% adopt/% abi/tcm/% abi/kmp/% abi/openacc.c.o core/settings/%))
LINKED_OBJECTS := $(AT_LOAD) $(IN_REGIONS) $(filter-out $(AT_LOAD) $(IN_REGIONS) $(BY_FEW),$(lib_OBJECTS)) $(BY_FEW)
$(LIBGOMP): $(lib_OBJECTS) $(VERSION_MAPS) runtime/abi/constants.ld
	@mkdir -p $(@D)
	$(CC) -shared $(CFLAGS) -o $@ -Wl,-u,pthread_atfork -lc $(LINKED_OBJECTS) -Wl,-soname,libgomp.so.1 \
	    -Wl,-T,runtime/abi/constants.ld \
	    $(VERSION_MAPS:%=-Wl,--version-script=%) -Wl,-z,defs -Wl,-z,nodelete -Wl,-z,relro -Wl,-Bsymbolic-functions -ldl -lpthread
	for name in libgomp.so.1 libomp.so.5 libiomp5.so; do ln -sf $(@F) $(@D)/$$name; done
	ln -sf libgomp.so.1 $(@D)/libgomp.so

# What `capstan run` preloads beside it, to notice libraries that are loaded later.
ADOPT_LIBRARY := $(BUILD)/lib/libcapstan-adopt.so
$(ADOPT_LIBRARY): runtime/adopt/preload.c runtime/include/capstan.h capstan.cabal
	@mkdir -p $(@D)
	$(CC) $(CABAL_CFLAGS) $(CABAL_INCLUDES) $(CFLAGS) $(WERROR) -DCST_PRELOAD -fPIC -shared $< -o $@ \
	    -Wl,-soname,$(@F) -Wl,-z,nodelete -Wl,-z,relro -ldl -lpthread

# Files of names alone, under the version that clang's programs ask for. One is what clang -fopenmp links programs
# with (libomp.so). `capstan run` preloads both: a program's need of libomp.so.5 or libiomp5.so is met by who is called so
# (SONAME), and a path does not do. Each is a filter, which is to say that its names are found in the library.
NAMES := $(BUILD)/obj/names/names
LLVM_NAMES := $(BUILD)/lib/libcapstan-llvm.so
INTEL_NAMES := $(BUILD)/lib/libcapstan-intel.so
$(NAMES).s: $(LIBGOMP)
	@mkdir -p $(@D)
	nm -D --defined-only $< | sed -n 's/^[0-9a-f]* T \([^@]*\)@@*VERSION$$/\t.globl \1\n\t.type \1, %function\n\1:/p' >$@
	echo '	.section .rodata' >>$@
	nm -D --defined-only $< | sed -n 's/^[0-9a-f]* R \([^@]*\)@@*VERSION$$/\t.globl \1\n\t.type \1, %object\n\t.size \1, 8\n\1: .quad 0/p' >>$@
	echo '	.section .note.GNU-stack, "", %progbits' >>$@
	echo 'VERSION { *; };' >$(NAMES).map
LINK_NAMES = $(CC) -shared -nostdlib -o $@ $< -Wl,--filter=libgomp.so.1 -Wl,-rpath,'$$ORIGIN' -Wl,--version-script=$(NAMES).map
$(LLVM_NAMES): $(NAMES).s
	$(LINK_NAMES) -Wl,-soname,libomp.so.5
	ln -sf $(@F) $(@D)/libomp.so
$(INTEL_NAMES): $(NAMES).s
	$(LINK_NAMES) -Wl,-soname,libiomp5.so

# The same of the permit interface, which oneTBB opens as libtcm.so.1.
TCM_NAMES := $(BUILD)/lib/libcapstan-tcm.so
$(BUILD)/obj/names/tcm.s: $(LIBGOMP)
	@mkdir -p $(@D)
	nm -D --defined-only $< | sed -n 's/^[0-9a-f]* T \(tcm[A-Z][^@]*\)@.*$$/\t.globl \1\n\t.type \1, %function\n\1:/p' >$@
	echo '	.section .note.GNU-stack, "", %progbits' >>$@
$(TCM_NAMES): $(BUILD)/obj/names/tcm.s
	$(CC) -shared -nostdlib -o $@ $< -Wl,--filter=libgomp.so.1 -Wl,-rpath,'$$ORIGIN' -Wl,-soname,libtcm.so.1
	ln -sf $(@F) $(@D)/libtcm.so.1

.PHONY: lib
lib: $(LIBGOMP) $(LLVM_NAMES) $(INTEL_NAMES) $(TCM_NAMES) $(ADOPT_LIBRARY) ## The C library alone: build/lib/libgomp.so.1.0.0, with the names of libomp.
