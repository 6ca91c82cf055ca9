/* The grammar of the environment's values: pure functions from text to a value.
 *
 * Each takes the whole text and returns false, leaving *value alone, when the text is not wholly
 * of its form. Blanks around are allowed, case does not matter, as in libgomp. */
#ifndef CST_CORE_BASE_PARSE_H
#define CST_CORE_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word and what it stands for; a table ends with a null word. */
struct cst_word {
    const char *text;
    uint64_t value;
};

/* Skips blanks. */
const char *cst_parse_blanks(const char *text);
/* Consumes one of the words at *text; false when none begins there. */
bool cst_parse_word_at(const char **text, const struct cst_word *words, uint64_t *value);
/* Consumes a decimal number at *text; false on none or overflow. */
bool cst_parse_number_at(const char **text, uint64_t *value);

/* One of the words. */
bool cst_parse_word(const char *text, const struct cst_word *words, uint64_t *value);
/* A number from `least` to `most`. */
bool cst_parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *value);
/* A size: number and optional B, K, M or G; kilobytes without. */
bool cst_parse_size(const char *text, uint64_t *bytes);
/* A count: number and optional k, M, G or T, or `infinite`, `infinity` (UINT64_MAX). */
bool cst_parse_count(const char *text, uint64_t *count);

/* Numbers from 1 to `most` separated by commas. *list is allocated when there is more than one;
 * *first is the first. False also when memory is out. */
bool cst_parse_number_list(const char *text, uint32_t most, uint32_t *first, uint32_t **list,
                           size_t *length);
/* One of `words`, or several of them separated by commas provided that none is below `least`. */
bool cst_parse_word_list(const char *text, const struct cst_word *words, uint64_t least,
                         uint8_t *first, uint8_t **list, size_t *length);

#endif
