/* The rts substrate in a Haskell program: the package is linked with the RTS. libgomp.so.1 has
 * loader.c in this place. */
#if defined(__GLASGOW_HASKELL__) && !defined(CST_SHARED_LIBRARY)
#include "substrate/rts/rts.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/auxv.h>

/* GHCi loads packages such that later libraries do not see their names; such a library would find
 * libgomp instead. So the package's shared library asks the loader to show its names. An
 * executable, whose program headers the kernel passes, shows them anyway (capstan.cabal). The
 * handle stays open, as a worker may be in this code at any time. */
__attribute__((constructor)) static void show_names(void) {
    extern const char __ehdr_start __attribute__((visibility("hidden")));
    uintptr_t begin = (uintptr_t)&__ehdr_start, executable = getauxval(AT_PHDR);
    Dl_info info;
    if (executable - begin < 4096) return;
    if (dladdr((const void *)begin, &info) && info.dli_fname)
        (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

const struct cst_substrate *cst_rts_substrate(const char **reason) {
    (void)reason;
    return &cst_rts_linked_substrate;
}

/* Callers ask before hs_init too, so the answer is about the linked program, not about a running
 * RTS. */
bool cst_rts_is_host(void) {
    return true;
}

/* The program itself decides when to start the RTS. */
int cst_rts_begin(unsigned capabilities, const char **reason) {
    (void)capabilities;
    *reason = "GHC's runtime system has not been started";
    return EAGAIN;
}

#endif
