/* Shared by the fuzzers here: pieces of the input, and files in memory.
 *
 * A fuzzer is FUZZ_NAME.c with libFuzzer's LLVMFuzzerTestOneInput, linked with the runtime's
 * objects. A CHECK tests a rule that holds for any input. The sanitizers and libFuzzer notice a
 * crash, an overflow, a leak and a long run. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                                           \
    ((condition) ? (void)0                                                                         \
                 : (printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition), abort()))

/* The rest of an input. */
struct input {
    const uint8_t *at;
    size_t left;
};

/* Returns the next byte, or 0. */
static inline uint8_t next_byte(struct input *input) {
    if (input->left == 0) return 0;
    input->left--;
    return *input->at++;
}

/* Returns the text up to the next `end`, or the rest, without its zeros; the caller frees it. The
 * block has exactly its size, so that a read beyond the end is seen. */
static inline char *next_text(struct input *input, int end) {
    const uint8_t *stop = end < 0 ? NULL : memchr(input->at, end, input->left);
    size_t length = stop ? (size_t)(stop - input->at) : input->left, used = 0;
    char *text = malloc(length + 1);
    CHECK(text != NULL);
    for (size_t i = 0; i < length; i++)
        if (input->at[i] != '\0') text[used++] = (char)input->at[i];
    text[used] = '\0';
    input->at += length + (stop != NULL);
    input->left -= length + (stop != NULL);
    return realloc(text, used + 1);
}

#endif
