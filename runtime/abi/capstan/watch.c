/* The words that `capstan top` reads in the process's memory (process_vm_readv(2)). The runtime
 * keeps them for its own use, and does no work for the reader.
 *
 * A note of the ELF file leads the reader to them. The kernel or the loader maps it with the file,
 * and strip(1) leaves it. So the reader needs no file, in Haskell programs too, and runs no code of
 * the process. */
#include "abi/whole.h"
#include "core/front.h"

CST_WHOLE(capstan_words);

/* Each word has 32 bits. app/cbits/watch.c reads this layout. */
struct watched {
    char name[24]; /* "": the end */
    const void *word;
};

__attribute__((visibility("hidden"), used)) const struct watched cst_words[] = {
    {"processors", &cst_config.available},
    {"region threads", &cst_busy},
    {"masters in line", &cst_turn_waiting},
    {"permit threads", &cst_permit_threads},
    {"share part", &cst_share_part},
    {"share held", &cst_share_held},
    {"", NULL},
};

/* A note of type 1 by "Capstan". It holds the distance of the words from its own place. */
__asm__(".pushsection .note.capstan, \"a\", @note\n"
        ".balign 4\n"
        ".long 8, 8, 1\n"
        ".asciz \"Capstan\"\n"
        ".quad cst_words - .\n"
        ".popsection");
