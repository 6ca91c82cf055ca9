/* The text about the processors of a thread; see affinity.h. */
#include "core/team/affinity.h"

#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/settings/affinity_format.h"
#include "core/settings/place.h"
#include "core/state/thread.h"
#include "core/team/questions.h"
#include "platform/platform.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- writing into a buffer that may be too small --------------------------------------------- */

struct output {
    char *buffer;
    size_t size, used; /* used: the whole text's length */
};

static void put(struct output *out, const char *text, size_t length) {
    if (out->used < out->size) {
        size_t room = out->size - out->used;
        memcpy(out->buffer + out->used, text, length < room ? length : room);
    }
    out->used += length;
}

static void repeat(struct output *out, char c, size_t count) {
    if (out->used < out->size) {
        size_t room = out->size - out->used;
        memset(out->buffer + out->used, c, count < room ? count : room);
    }
    out->used += count;
}

/* --- fields ---------------------------------------------------------------------------------- */

static void put_field(struct output *out, const struct cst_affinity_field *field, const char *text,
                      size_t length) {
    size_t fill = length < field->size ? field->size - length : 0;
    if (field->right) repeat(out, ' ', fill);
    put(out, text, length);
    if (!field->right) repeat(out, ' ', fill);
}

/* Zeros go between sign or 0x and the digits. */
static void put_number(struct output *out, const struct cst_affinity_field *field,
                       const char *text) {
    size_t length = strlen(text);
    if (!field->zero || length >= field->size) {
        put_field(out, field, text, length);
        return;
    }
    size_t prefix = text[0] == '-' ? 1 : text[0] == '0' && text[1] == 'x' ? 2 : 0;
    put(out, text, prefix);
    repeat(out, '0', field->size - length);
    put(out, text + prefix, length - prefix);
}

static void put_int(struct output *out, const struct cst_affinity_field *field, int value) {
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    put_number(out, field, text);
}

static void put_host(struct output *out, const struct cst_affinity_field *field) {
    char name[HOST_NAME_MAX + 1] = "";
    if (gethostname(name, sizeof name) != 0) strcpy(name, "node");
    name[sizeof name - 1] = '\0';
    put_field(out, field, name, strlen(name));
}

/* The processors of the thread's place. For an unbound thread, all processors on which it may
 * run. */
static void put_processors(struct output *out, const struct cst_affinity_field *field,
                           uint32_t place) {
    uint64_t own[CST_CPU_MASK_WORDS];
    const uint64_t *mask = own;
    size_t words = CST_CPU_MASK_WORDS;
    if (place > 0 && place <= cst_places.count) {
        mask = cst_place_mask(&cst_places, place - 1);
        words = cst_places.words;
    } else {
        cst_cpu_mask_get(own, words);
    }
    size_t length = cst_mask_format(mask, words, false, NULL, 0);
    char *text = cst_memory_get("an affinity format", length + 1);
    cst_mask_format(mask, words, false, text, length + 1);
    put_field(out, field, text, length);
    free(text);
}

static int ancestor_number(const struct cst_thread *self) {
    return self->team->level > 0 ? (int)self->team->master_number : -1;
}

static void put_value(struct output *out, const struct cst_affinity_field *field) {
    struct cst_thread *self = cst_self();
    char handle[32];
    switch (field->type) {
    case 't':
        put_int(out, field, (int)cst_ask_league().number);
        break;
    case 'T':
        put_int(out, field, (int)cst_ask_league().size);
        break;
    case 'L':
        put_int(out, field, (int)self->team->level);
        break;
    case 'n':
        put_int(out, field, (int)self->number);
        break;
    case 'N':
        put_int(out, field, (int)self->team->size);
        break;
    case 'a':
        put_int(out, field, ancestor_number(self));
        break;
    case 'P':
        put_int(out, field, (int)getpid());
        break;
    case 'H':
        put_host(out, field);
        break;
    case 'i':
        if (cst_affinity_is_libomp())
            snprintf(handle, sizeof handle, "%d", (int)cst_thread_id());
        else
            snprintf(handle, sizeof handle, "0x%lx", (unsigned long)pthread_self());
        put_number(out, field, handle);
        break;
    case 'A':
        put_processors(out, field, self->seat->binding.place);
        break;
    }
}

/* Writes libomp's text for an unknown field. Returns the format after the field. */
static const char *put_undefined(struct output *out, const char *field) {
    static const char undefined[] = "undefined";
    put(out, undefined, sizeof undefined - 1);
    const char *end = field + strspn(field, "0.123456789");
    if (*end == '{') end += strcspn(end, "}");
    return *end ? end + 1 : end;
}

/* Writes the text of the format. False: the format is wrong. */
static bool expand(struct output *out, const char *format, char why[CST_AFFINITY_WHY]) {
    while (*format) {
        size_t plain = strcspn(format, "%");
        put(out, format, plain);
        format += plain;
        if (*format == '\0') break;
        format++;
        if (*format == '%') {
            put(out, format, 1);
            format++;
            continue;
        }
        struct cst_affinity_field field;
        const char *rest = cst_affinity_parse_field(format, &field, why);
        if (!rest && !cst_affinity_is_libomp()) return false;
        if (rest)
            put_value(out, &field);
        else
            rest = put_undefined(out, format);
        format = rest;
    }
    return true;
}

static size_t capture(struct output *out, const char *format) {
    char why[CST_AFFINITY_WHY];
    if (!expand(out, format, why)) cst_message_openmp_fatal("%s", why);
    return out->used;
}

/* A copy of the format in use, as another thread may change the format meanwhile. The caller frees
 * it. */
static char *chosen(const char *format) {
    if (format && *format) {
        size_t size = strlen(format) + 1;
        return memcpy(cst_memory_get("an affinity format", size), format, size);
    }
    for (size_t size = 256;; size *= 2) {
        char *copy = cst_memory_get("an affinity format", size);
        size_t length = cst_affinity_get_format(copy, size - 1);
        if (length < size) {
            copy[length] = '\0';
            return copy;
        }
        free(copy);
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it is written to, through `out` */
size_t cst_affinity_capture(char *buffer, size_t size, const char *format) {
    char *text = chosen(format);
    struct output out = {buffer, size, 0};
    size_t length = capture(&out, text);
    free(text);
    return length;
}

/* Writes the line in one piece: the lines of several threads must not mix. */
void cst_affinity_display(const char *format) {
    char *text = chosen(format);
    struct output measure = {NULL, 0, 0};
    size_t size = capture(&measure, text) + 64; /* names and masks may change meanwhile */
    char *line = cst_memory_get("a line about affinity", size + 1);
    struct output out = {line, size, 0};
    size_t length = capture(&out, text);
    if (length > size) length = size;
    line[length] = '\n';
    fwrite(line, 1, length + 1, cst_affinity_is_libomp() ? stdout : stderr);
    free(line);
    free(text);
}
