/* Where `capstan top` finds what the runtime is doing: it reads these words in the process's memory
 * (process_vm_readv(2)). The runtime keeps them for itself, and does nothing for the reader. */
#include "abi/whole.h"
#include "capstan.h"
#include "core/front.h"

CST_WHOLE(capstan_words);

/* Each word has 32 bits. The order and the names are read by app/cbits/watch.c. */
struct watched {
    char name[24]; /* "": the end */
    const void *word;
};

extern __attribute__((visibility("default"))) const struct watched capstan_words[];

const struct watched capstan_words[] = {
    {"processors", &cst_config.available},
    {"region threads", &cst_busy},
    {"masters in line", &cst_turn_waiting},
    {"permit threads", &cst_permit_threads},
    {"share part", &cst_share_part},
    {"share held", &cst_share_held},
    {"", NULL},
};
