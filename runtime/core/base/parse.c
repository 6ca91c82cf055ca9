/* The grammar of the environment's values. */
#include "core/base/parse.h"

#include "core/base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *cst_parse_blanks(const char *text) {
    while (isspace((unsigned char)*text)) text++;
    return text;
}

static bool at_end(const char *text) {
    return *cst_parse_blanks(text) == '\0';
}

bool cst_parse_word_at(const char **text, const struct cst_word *words, uint64_t *value) {
    const char *start = cst_parse_blanks(*text);
    for (; words->text; words++) {
        size_t length = strlen(words->text);
        if (strncasecmp(start, words->text, length) != 0) continue;
        *value = words->value;
        *text = start + length;
        return true;
    }
    return false;
}

bool cst_parse_number_at(const char **text, uint64_t *value) {
    const char *start = cst_parse_blanks(*text);
    if (*start == '+') start++;
    if (!isdigit((unsigned char)*start)) return false; /* strtoull would negate "-1" */
    char *end;
    int saved = errno;
    errno = 0;
    unsigned long long number = strtoull(start, &end, 10);
    bool fits = errno == 0;
    errno = saved;
    if (!fits) return false;
    *value = number;
    *text = end;
    return true;
}

bool cst_parse_word(const char *text, const struct cst_word *words, uint64_t *value) {
    uint64_t found;
    if (!cst_parse_word_at(&text, words, &found) || !at_end(text)) return false;
    *value = found;
    return true;
}

bool cst_parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    uint64_t number;
    if (!cst_parse_number_at(&text, &number) || !at_end(text)) return false;
    if (number < least || number > most) return false;
    *value = number;
    return true;
}

bool cst_parse_size(const char *text, uint64_t *bytes) {
    uint64_t number;
    if (!cst_parse_number_at(&text, &number)) return false;
    unsigned shift = 10;
    text = cst_parse_blanks(text);
    if (*text != '\0') {
        switch (tolower((unsigned char)*text++)) {
        case 'b':
            shift = 0;
            break;
        case 'k':
            shift = 10;
            break;
        case 'm':
            shift = 20;
            break;
        case 'g':
            shift = 30;
            break;
        default:
            return false;
        }
    }
    if (!at_end(text) || number << shift >> shift != number) return false;
    *bytes = number << shift;
    return true;
}

bool cst_parse_count(const char *text, uint64_t *count) {
    static const struct cst_word endless[] = {{"infinite", 0}, {"infinity", 0}, {NULL, 0}};
    uint64_t number, factor = 1;
    if (cst_parse_word(text, endless, &number)) {
        *count = UINT64_MAX;
        return true;
    }
    if (!cst_parse_number_at(&text, &number)) return false;
    text = cst_parse_blanks(text);
    if (*text != '\0') {
        switch (tolower((unsigned char)*text++)) {
        case 't':
            factor *= 1000; /* fall through */
        case 'g':
            factor *= 1000; /* fall through */
        case 'm':
            factor *= 1000; /* fall through */
        case 'k':
            factor *= 1000;
            break;
        default:
            return false;
        }
    }
    if (!at_end(text)) return false;
    *count = number > UINT64_MAX / factor ? UINT64_MAX : number * factor;
    return true;
}

/* The number of items in a comma-separated list; at least 1. */
static size_t items(const char *text) {
    size_t count = 1;
    for (; *text; text++) count += *text == ',';
    return count;
}

bool cst_parse_number_list(const char *text, uint32_t most, uint32_t *first, uint32_t **list,
                           size_t *length) {
    size_t count = items(text);
    uint32_t *numbers = calloc(count, sizeof *numbers);
    if (!numbers) cst_memory_exhausted("a setting", count * sizeof *numbers);
    for (size_t i = 0; i < count; i++) {
        uint64_t number;
        if (!cst_parse_number_at(&text, &number) || number < 1 || number > most) goto wrong;
        numbers[i] = (uint32_t)number;
        text = cst_parse_blanks(text);
        if (*text++ != (i + 1 < count ? ',' : '\0')) goto wrong;
    }
    *first = numbers[0];
    if (count > 1) {
        *list = numbers;
        *length = count;
    } else {
        free(numbers);
    }
    return true;
wrong:
    free(numbers);
    return false;
}

bool cst_parse_word_list(const char *text, const struct cst_word *words, uint64_t least,
                         uint8_t *first, uint8_t **list, size_t *length) {
    size_t count = items(text);
    uint8_t *values = calloc(count, sizeof *values);
    if (!values) cst_memory_exhausted("a setting", count * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        uint64_t value;
        if (!cst_parse_word_at(&text, words, &value)) goto wrong;
        if (count > 1 && value < least) goto wrong;
        values[i] = (uint8_t)value;
        text = cst_parse_blanks(text);
        if (*text++ != (i + 1 < count ? ',' : '\0')) goto wrong;
    }
    *first = values[0];
    if (count > 1) {
        *list = values;
        *length = count;
    } else {
        free(values);
    }
    return true;
wrong:
    free(values);
    return false;
}
