/* The words that `capstan top` reads in the process's memory (process_vm_readv(2)). The runtime
 * keeps them for its own use, and does no work for the reader. */
#include "abi/whole.h"
#include "capstan.h"
#include "core/front.h"

CST_WHOLE(capstan_words);

/* Each word has 32 bits. app/cbits/watch.c reads the names and their order. */
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
