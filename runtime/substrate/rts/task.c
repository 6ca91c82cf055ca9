/* The calling thread's Task. On x86-64 GHC keeps a pointer to it in a thread-local variable that it
 * does not export, on AArch64 by a key of pthread_getspecific. No call tells whether a thread has a
 * Task. So the place is found by observation. A public call gives a Task to a thread without one.
 * Then one word of the RTS's thread-local memory, or one key's value, must change from null to a
 * pointer, and back when the thread has finished with Haskell. No other may. Else no Task is ever
 * known. */
#include "substrate/rts/rts.h"

#include "platform/atomic.h"
#include "platform/check.h"

#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

cst_rts_tls_function __tls_get_addr;
cst_rts_tls_function *cst_rts_tls = __tls_get_addr;

static struct cst_rts_tls_index task_place;
static pthread_key_t task_key;
static _Atomic enum { UNKNOWN, BY_PLACE, BY_KEY } task_known;
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

/* The calling thread's values of all keys; null for a key that does not exist. */
static void read_keys(void **values) {
    for (unsigned key = 0; key < PTHREAD_KEYS_MAX; key++) values[key] = pthread_getspecific(key);
}

/* The RTS's thread-local memory of the calling thread, in words; 0 if there is none. */
static size_t own_words(void ***first, struct cst_rts_module *module) {
    size_t words = cst_rts_find_module(module) ? module->bytes / sizeof(void *) : 0;
    if (words == 0 || words > MOST_WORDS) return 0;
    *first = cst_rts_tls(&(struct cst_rts_tls_index){.module = module->number, .offset = 0});
    return words;
}

static void learn(void) {
    struct cst_rts_module module = {.inside = (uintptr_t)&rts_lock};
    void **now = NULL;
    size_t words = own_words(&now, &module);
    void **before = malloc((words + 2 * PTHREAD_KEYS_MAX) * sizeof *before);
    if (!before) return;
    void **keys_before = before + words, **keys = keys_before + PTHREAD_KEYS_MAX;
    if (words) memcpy(before, now, words * sizeof *before);
    read_keys(keys_before);
    bool made = cst_rts_try(make_task, NULL);
    size_t word = only_change(before, now, words);
    read_keys(keys);
    size_t key = only_change(keys_before, keys, PTHREAD_KEYS_MAX);
    if (made) hs_thread_done();
    free(before);
    /* Release pairs with the acquire below. */
    if (word < words && !now[word]) {
        task_place =
            (struct cst_rts_tls_index){.module = module.number, .offset = word * sizeof(void *)};
        cst_store_release(&task_known, BY_PLACE);
    } else if (key < PTHREAD_KEYS_MAX && !pthread_getspecific(key)) {
        task_key = key;
        cst_store_release(&task_known, BY_KEY);
    }
}

void cst_rts_learn_task(void) {
    /* Relaxed, as only one thread shall try. */
    if (cst_likely(cst_load_relaxed(&learning)) || cst_exchange_relaxed(&learning, true)) return;
    if (cst_rts_state() == CST_RTS_RUNNING) learn();
}

void **cst_rts_task_word(void) {
    if (cst_load_acquire(&task_known) != BY_PLACE) return NULL;
    struct cst_rts_tls_index place = task_place;
    return cst_rts_tls(&place);
}

void *cst_rts_task(void) {
    if (cst_load_acquire(&task_known) == BY_KEY) return pthread_getspecific(task_key);
    void **word = cst_rts_task_word();
    return word ? *word : NULL;
}
