/* The text of OMP_AFFINITY_FORMAT; see affinity_format.h. Its form is libgomp's. */
#include "core/settings/affinity_format.h"

#include "core/base/lock.h"
#include "core/base/memory.h"
#include "core/base/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- the format ---------------------------------------------------------------------------- */

/* The format belongs to the device, and so to the process. `text` is NULL while it is the
 * default. */
static struct {
    cst_lock lock; /* for `text` and `length` */
    char *text;
    size_t length;
} current;

static _Atomic bool is_libomp; /* relaxed: it orders nothing */

void cst_affinity_speak_as_libomp(void) {
    if (!cst_load_relaxed(&is_libomp)) cst_store_relaxed(&is_libomp, true);
}

bool cst_affinity_is_libomp(void) {
    return cst_load_relaxed(&is_libomp);
}

static const char *default_format(void) {
    return cst_affinity_is_libomp() ? "OMP: pid %P tid %i thread %n bound to OS proc set {%A}"
                                    : "level %L thread %i affinity %A";
}

void cst_affinity_set_format(const char *format, size_t length) {
    char *text = cst_memory_get("an affinity format", length + 1);
    memcpy(text, format, length);
    text[length] = '\0';
    cst_lock_acquire(&current.lock);
    char *old = current.text;
    current.text = text;
    current.length = length;
    cst_lock_release(&current.lock);
    free(old);
}

size_t cst_affinity_get_format(char *buffer, size_t size) {
    cst_lock_acquire(&current.lock);
    const char *text = current.text ? current.text : default_format();
    size_t length = current.text ? current.length : strlen(text);
    if (size > 0) memcpy(buffer, text, length < size ? length : size);
    cst_lock_release(&current.lock);
    return length;
}

void cst_affinity_after_fork(void) {
    cst_store_relaxed(&current.lock, CST_LOCK_FREE);
}

/* --- grammar -------------------------------------------------------------------------------- */

/* The result of the functions below for a wrong format: NULL, and libgomp's words in *why. */
static CST_PRINTF(2, 3) const char *wrong(char why[CST_AFFINITY_WHY], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, CST_AFFINITY_WHY, format, arguments);
    va_end(arguments);
    return NULL;
}

/* Reads {name}; returns the text after it. */
static const char *parse_long_name(const char *at, struct cst_affinity_field *field,
                                   char why[CST_AFFINITY_WHY]) {
    static const struct {
        const char *name;
        char type;
    } names[] = {
        {"team_num", 't'},
        {"num_teams", 'T'},
        {"nesting_level", 'L'},
        {"thread_num", 'n'},
        {"num_threads", 'N'},
        {"ancestor_tnum", 'a'},
        {"host", 'H'},
        {"process_id", 'P'},
        {"native_thread_id", 'i'},
        {"thread_affinity", 'A'},
    };
    const char *end = strchr(at, '}');
    if (!end) return wrong(why, "unterminated long type name '%s' in affinity format", at);
    size_t length = (size_t)(end - at);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i].name) == length && memcmp(names[i].name, at, length) == 0) {
            field->type = names[i].type;
            return end + 1;
        }
    return wrong(why, "unsupported long type name '%.*s' in affinity format",
                 (int)(length < CST_AFFINITY_WHY ? length : CST_AFFINITY_WHY), at);
}

/* The decimal number at *at. Digits beyond the bound are read too; the number stays above the
 * bound. */
static size_t parse_width(const char **at) {
    size_t width = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if (width <= CST_AFFINITY_MOST_WIDTH) width = 10 * width + (size_t)(**at - '0');
    return width;
}

const char *cst_affinity_parse_field(const char *at, struct cst_affinity_field *field,
                                     char why[CST_AFFINITY_WHY]) {
    *field = (struct cst_affinity_field){0};
    if (*at == '0') {
        at++;
        field->zero = *at == '.';
        if (*at != '.' && !cst_affinity_is_libomp())
            return wrong(why, "leading zero not followed by dot in affinity format");
    }
    if (*at == '.') {
        field->right = true;
        at++;
    }
    if (*at >= '1' && *at <= '9') {
        const char *digits = at;
        field->size = parse_width(&at);
        if (field->size > CST_AFFINITY_MOST_WIDTH)
            return wrong(why, "size %.*s in affinity format is larger than %d",
                         (int)(at - digits < CST_AFFINITY_WHY ? at - digits : CST_AFFINITY_WHY),
                         digits, CST_AFFINITY_MOST_WIDTH);
    } else if (field->right) {
        return wrong(why, "leading zero or right justification in affinity format requires size");
    }
    if (*at == '{') return parse_long_name(at + 1, field, why);
    field->type = *at;
    if (*at == '\0' || !strchr("tTLnNaPHiA", *at))
        return wrong(why, "unsupported type %c in affinity format", *at);
    return at + 1;
}

bool cst_affinity_check(const char *format) {
    char why[CST_AFFINITY_WHY];
    struct cst_affinity_field field;
    while ((format = strchr(format, '%'))) {
        bool is_percent = format[1] == '%';
        format = is_percent ? format + 2 : cst_affinity_parse_field(format + 1, &field, why);
        if (!format) return false;
    }
    return true;
}
