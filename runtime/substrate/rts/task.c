/* The calling thread's Task. GHC keeps a pointer to it in a thread-local variable that it does not
 * export, and has no call that tells whether a thread has a Task. So the place is found by
 * observation. A public call gives a Task to a thread without one. Then exactly one word of the
 * RTS's thread-local memory must change from null to a pointer, and back when the thread has
 * finished with Haskell. If that fails (on other processors GHC keeps the Task elsewhere), no Task
 * is ever known. */
#include "substrate/rts/rts.h"

#include "platform/atomic.h"
#include "platform/check.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

cst_rts_tls_function __tls_get_addr;
cst_rts_tls_function *cst_rts_tls = __tls_get_addr;

static struct cst_rts_tls_index task_place;
static _Atomic bool task_place_known;
static _Atomic bool learning;

enum { MOST_WORDS = 65536 }; /* larger thread-local memory is not searched */

static int find_module(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct cst_rts_module *module = data;
    size_t bytes = 0;
    bool inside = false, zero = true;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_TLS) {
            bytes = header->p_memsz;
            zero = header->p_filesz == 0;
        }
        if (header->p_type == PT_LOAD &&
            module->inside - (info->dlpi_addr + header->p_vaddr) < header->p_memsz)
            inside = true;
    }
    if (!inside) return 0;
    module->number = info->dlpi_tls_modid;
    module->bytes = bytes;
    module->zero = zero;
    return 1;
}

bool cst_rts_find_module(struct cst_rts_module *module) {
    return dl_iterate_phdr(find_module, module) && module->number;
}

/* The word that was null in `before` and is not null now; `words` unless there is exactly one. */
static size_t only_change(void **before, void **now, size_t words) {
    size_t found = words;
    for (size_t i = 0; i < words; i++) {
        if (before[i] || !now[i]) continue;
        if (found < words) return words;
        found = i;
    }
    return found;
}

static void make_task(void *unused) {
    (void)unused;
    rts_setInCallCapability(-1, 0); /* the default */
}

static void learn(void) {
    struct cst_rts_module module = {.inside = (uintptr_t)&rts_lock};
    if (!cst_rts_find_module(&module)) return;
    size_t words = module.bytes / sizeof(void *);
    if (words > MOST_WORDS) return;
    void **now = cst_rts_tls(&(struct cst_rts_tls_index){.module = module.number, .offset = 0});
    void **before = malloc(words * sizeof *before);
    if (!before) return;
    memcpy(before, now, words * sizeof *before);
    bool made = cst_rts_try(make_task, NULL);
    size_t word = only_change(before, now, words);
    if (made) hs_thread_done();
    free(before);
    if (word == words || now[word]) return;
    task_place =
        (struct cst_rts_tls_index){.module = module.number, .offset = word * sizeof(void *)};
    cst_store_release(&task_place_known, true); /* pairs with the acquire below */
}

void cst_rts_learn_task(void) {
    /* Relaxed, as only one thread shall try. */
    if (cst_likely(cst_load_relaxed(&learning)) || cst_exchange_relaxed(&learning, true)) return;
    if (cst_rts_state() == CST_RTS_RUNNING) learn();
}

void **cst_rts_task_word(void) {
    if (!cst_load_acquire(&task_place_known)) return NULL;
    struct cst_rts_tls_index place = task_place;
    return cst_rts_tls(&place);
}

void *cst_rts_task(void) {
    void **word = cst_rts_task_word();
    return word ? *word : NULL;
}
