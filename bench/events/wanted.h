/* wanted.h: the cases that the command line selects. No words mean all cases; a word that ends in -
 * means all cases that begin so. */
#ifndef WANTED_H
#define WANTED_H

#include <stdbool.h>
#include <string.h>

static inline bool case_wanted(char **words, const char *name) {
    bool found = words[0] == NULL;
    for (; *words != NULL && !found; words++) {
        size_t length = strlen(*words);
        bool group = length > 0 && (*words)[length - 1] == '-';
        found = (group ? strncmp(name, *words, length) : strcmp(name, *words)) == 0;
    }
    return found;
}

#endif
