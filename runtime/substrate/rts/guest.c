/* GHC's runtime system as a polite guest of a C, C++ or Fortran program.
 *
 * By default hs_init takes four signals, starts a ticker and the I/O manager's threads, sets the
 * locale, reads GHCRTS and reserves a tebibyte of addresses. Options switch off some of it. For the
 * rest, the start replaces some imports of the RTS's library:
 *
 * - setlocale returns the locale and does not set it;
 * - mmap refuses large reservations, so the RTS tries smaller ones;
 * - pthread_create hands out threads made before (spare.c);
 * - __tls_get_addr knows a word that needs no memory (tls.c);
 * - calls that end the process, or that may end it, end only the start (ending.c).
 *
 * So the start has a thread of its own, which a failed start leaves behind. */
#ifdef CST_SHARED_LIBRARY
#include "substrate/rts/rts.h"

#include "platform/atomic.h"
#include "substrate/thread.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Addresses for the Haskell heap, which contains only workers' stacks of 1 KiB each. */
static const size_t heap_most = (size_t)256 << 20;
static const size_t heap_least = (size_t)16 << 20;
static size_t heap;

/* The maximum of newer GHC releases. A Capability takes at most 128 KiB of heap. */
enum { CAPABILITIES_MOST = 256, HEAP_OF_CAPABILITY = 128 * 1024 };

static char *ask_locale(int category, const char *locale) {
    (void)locale;
    return setlocale(category, NULL);
}

static void *map(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    if (protection == PROT_NONE && (flags & MAP_NORESERVE) && size > heap) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    if (flags & MAP_FIXED) return cst_rts_commit(address, size, protection, flags, file, offset);
    return mmap(address, size, protection, flags, file, offset);
}

/* The RTS ends the process if a limit is too small. size_heap has already tried to map the
 * addresses that it needs. */
static int no_address_limit(__rlimit_resource_t resource, struct rlimit *limit) {
    int result = getrlimit(resource, limit);
    if (resource == RLIMIT_AS) limit->rlim_cur = RLIM_INFINITY;
    return result;
}

/* The second names are those of the same functions in programs that are built for large files. */
static const struct cst_rts_import imports[] = {
    {"setlocale", (void *)ask_locale},
    {"pthread_create", (void *)cst_rts_spare_create},
    {"mmap", (void *)map},
    {"mmap64", (void *)map},
    {"getrlimit", (void *)no_address_limit},
    {"getrlimit64", (void *)no_address_limit},
};
enum { IMPORTS = sizeof imports / sizeof *imports, IMPORTS_NEEDED = 4 };

static struct cst_rts_import more_imports[] = {
    {"__tls_get_addr", NULL}, /* found at the start */
    {"pthread_cond_wait", (void *)cst_rts_cond_wait},
    {"malloc", (void *)cst_rts_malloc},
    {"calloc", (void *)cst_rts_calloc},
    {"realloc", (void *)cst_rts_realloc},
    {"strdup", (void *)cst_rts_strdup},
    {"exit", (void *)cst_rts_exit},
    {"abort", (void *)cst_rts_abort},
};
enum { MORE_IMPORTS = sizeof more_imports / sizeof *more_imports };

/* Finds the largest heap for which there are addresses, and which leaves enough to the host. */
static bool size_heap(unsigned capabilities) {
    struct rlimit limit;
    heap = heap_most;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        while (heap > limit.rlim_cur / 8) heap /= 2;
    for (; heap >= heap_least + capabilities * (size_t)HEAP_OF_CAPABILITY; heap /= 2) {
        void *tried =
            mmap(NULL, heap, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (tried == MAP_FAILED) continue;
        munmap(tried, heap);
        return true;
    }
    return false;
}

/* hs_init starts the I/O manager, a thread and some files for each Capability, unless the RTS
 * believes that it runs. The RTS believes that if it has two descriptors of the I/O manager. */
static void pretend_io_manager(bool runs) {
    setTimerManagerControlFd(runs ? INT_MAX : -1);
    setIOManagerWakeupFd(runs ? INT_MAX : -1);
}

static void initialise(unsigned capabilities) {
    static char options[128];
    snprintf(options, sizeof options, "-N%u -V0 -I0 -A64k --install-signal-handlers=no",
             capabilities);
    RtsConfig config = defaultRtsConfig;
    config.rts_opts_enabled = RtsOptsIgnoreAll;
    config.rts_opts = options;
    config.rts_hs_main = false;
    char name[] = "capstan", *arguments[] = {name, NULL}, **argv = arguments;
    int argc = 1;
    pretend_io_manager(true);
    hs_init_ghc(&argc, &argv, config);
    pretend_io_manager(false);
}

/* Visits each Capability once, to note its address, and so that the RTS makes its first thread
 * here. */
static void visit_capabilities(void) {
    unsigned count = cst_rts_capabilities();
    for (unsigned i = 0; i < count; i++) {
        rts_setInCallCapability((int)i, 0);
        Capability *capability = rts_lock();
        cst_rts_note_capability(i, capability);
        rts_unlock(capability);
    }
}

/* In a thread of its own. */
static void *boot(void *capabilities) {
    initialise((unsigned)(uintptr_t)capabilities);
    visit_capabilities();
    cst_rts_get_action();
    hs_thread_done();
    cst_rts_start_ends(true);
    return NULL;
}

static int start(unsigned capabilities, const char **reason) {
    if (!size_heap(capabilities)) {
        *reason = "no address space for GHC's runtime system (ulimit -v)";
        return ENOMEM;
    }
    more_imports[0].replacement = cst_rts_tls_prepare();
    int error = cst_rts_spare_make(1 + capabilities);
    if (error) {
        *reason = "no threads for GHC's runtime system (ulimit -u, -v)";
        return error;
    }
    if (cst_rts_redirect((const void *)hs_init_ghc, imports, IMPORTS) < IMPORTS_NEEDED) {
        cst_rts_spare_dismiss();
        *reason = "GHC's runtime system is linked in an unknown way";
        return ENOTSUP;
    }
    cst_rts_redirect((const void *)hs_init_ghc, more_imports, MORE_IMPORTS);
    cst_rts_trim(); /* before the RTS's own memory comes on top */
    cst_rts_start_begins();
    pthread_t thread;
    cst_rts_spare_create(&thread, NULL, boot, (void *)(uintptr_t)capabilities);
    bool started = cst_rts_start_await(reason);
    if (started)
        pthread_join(thread, NULL);
    else
        pthread_detach(thread);
    cst_rts_spare_dismiss();
    if (!started) return ENOMEM;
    heap = SIZE_MAX;
    cst_rts_is_guest = true;
    return 0;
}

int cst_rts_begin(unsigned capabilities, const char **reason) {
    if (capabilities < 1) capabilities = 1;
    if (capabilities > CAPABILITIES_MOST) capabilities = CAPABILITIES_MOST;
    int saved = errno;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = start(capabilities, reason);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return error;
}

static void *end(void *unused) {
    cst_rts_await_workers();
    hs_exit();
    return unused;
}

/* Ends the RTS in a new thread, as the caller may be an ending thread, and hs_exit runs Haskell. If
 * there is no thread, the RTS stays. */
void cst_rts_end_guest(void) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)cst_thread_start(end, NULL, 0, 0, false);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The only name that libcapstan-rts.so exports. `size` is the size of the caller's table type. */
__attribute__((visibility("default"))) const struct cst_substrate *cst_rts_entry(size_t size) {
    return size == sizeof cst_rts_linked_substrate ? &cst_rts_linked_substrate : NULL;
}

#endif
