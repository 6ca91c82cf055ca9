/* The grammar of the environment's values: pure functions from text to a value.
 *
 * Each function reads the whole text. If the text does not have its form, it returns false and
 * leaves *value unchanged. Blanks around the value are allowed and case does not matter, as in
 * libgomp. */
#ifndef CST_CORE_BASE_PARSE_H
#define CST_CORE_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word and its value; a table ends with a null word. */
struct cst_word {
    const char *text;
    uint64_t value;
};

/* Skips blanks. */
const char *cst_parse_blanks(const char *text);
/* Consumes one of the words at *text; false if none begins there. */
bool cst_parse_word_at(const char **text, const struct cst_word *words, uint64_t *value);
/* Consumes a decimal number at *text; false on none or overflow. */
bool cst_parse_number_at(const char **text, uint64_t *value);

/* The text is one of the words. */
bool cst_parse_word(const char *text, const struct cst_word *words, uint64_t *value);
/* The text is a number from `least` to `most`. */
bool cst_parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *value);
/* The text is a size: a number and optionally B, K, M or G; kilobytes without a unit. */
bool cst_parse_size(const char *text, uint64_t *bytes);
/* The text is a count: a number and optionally k, M, G or T; or `infinite`, `infinity`
 * (UINT64_MAX). */
bool cst_parse_count(const char *text, uint64_t *count);

/* The text is numbers from 1 to `most`, separated by commas. *first is the first. If there are
 * more, *list is allocated for all. False also if there is no memory. */
bool cst_parse_number_list(const char *text, uint32_t most, uint32_t *first, uint32_t **list,
                           size_t *length);
/* The text is one of `words`, or several of them, separated by commas, whose values are `least` or
 * more. */
bool cst_parse_word_list(const char *text, const struct cst_word *words, uint64_t least,
                         uint8_t *first, uint8_t **list, size_t *length);

#endif
