/* The text of a thread's affinity; see affinity.h. Its form is libgomp's. */
#include "core/settings/affinity.h"

#include "core/base/lock.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/settings/place.h"
#include "core/state/thread.h"
#include "platform/platform.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- the format ---------------------------------------------------------------------------- */

/* Of the device, so of the process. `text` is NULL while it is the default. */
static struct {
    cst_lock lock; /* for the other two */
    char *text;
    size_t length;
} current;

static const char default_format[] = "level %L thread %i affinity %A";

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
    const char *text = current.text ? current.text : default_format;
    size_t length = current.text ? current.length : sizeof default_format - 1;
    if (size > 0) memcpy(buffer, text, length < size ? length : size);
    cst_lock_release(&current.lock);
    return length;
}

void cst_affinity_after_fork(void) {
    cst_store_relaxed(&current.lock, CST_LOCK_FREE);
}

/* --- writing into a buffer that may be too small --------------------------------------------- */

struct output {
    char *buffer;
    size_t size, used; /* used: what a large enough buffer would hold */
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

/* --- fields: %[[0].size]type ----------------------------------------------------------------- */

enum {
    MOST_WIDTH = 1024, /* so that no sum of lengths overflows, and a line fits the memory */
    WHY = 256          /* room to say what is wrong with a format */
};

struct field {
    bool zero, right;
    size_t size; /* at most MOST_WIDTH; 0: none given */
    char type;
};

static void put_field(struct output *out, const struct field *field, const char *text,
                      size_t length) {
    size_t fill = length < field->size ? field->size - length : 0;
    if (field->right) repeat(out, ' ', fill);
    put(out, text, length);
    if (!field->right) repeat(out, ' ', fill);
}

/* Zeros go between sign or 0x and the digits. */
static void put_number(struct output *out, const struct field *field, const char *text) {
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

static void put_int(struct output *out, const struct field *field, int value) {
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    put_number(out, field, text);
}

static void put_host(struct output *out, const struct field *field) {
    char name[HOST_NAME_MAX + 1] = "";
    if (gethostname(name, sizeof name) != 0) strcpy(name, "node");
    name[sizeof name - 1] = '\0';
    put_field(out, field, name, strlen(name));
}

/* The processors of the thread's place or, unbound, all on which it may run. */
static void put_processors(struct output *out, const struct field *field, uint32_t place) {
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

static const struct cst_team *initial_team(const struct cst_thread *self) {
    const struct cst_team *team = self->team;
    while (team->enclosing) team = team->enclosing;
    return team;
}

static void put_value(struct output *out, const struct field *field) {
    struct cst_thread *self = cst_self();
    char handle[32];
    switch (field->type) {
    case 't':
        put_int(out, field, (int)initial_team(self)->team_number);
        break;
    case 'T':
        put_int(out, field, (int)initial_team(self)->other_teams + 1);
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
        snprintf(handle, sizeof handle, "0x%lx", (unsigned long)pthread_self());
        put_number(out, field, handle);
        break;
    case 'A':
        put_processors(out, field, self->seat->binding.place);
        break;
    }
}

/* What a wrong format makes of a function below: NULL, and libgomp's words in *why. */
static CST_PRINTF(2, 3) const char *wrong(char why[WHY], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, WHY, format, arguments);
    va_end(arguments);
    return NULL;
}

/* {name}; returns what follows. */
static const char *parse_long_name(const char *at, struct field *field, char why[WHY]) {
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
                 (int)(length < WHY ? length : WHY), at);
}

/* The decimal number at *at. Digits beyond the bound are read, and leave it above the bound. */
static size_t parse_width(const char **at) {
    size_t width = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if (width <= MOST_WIDTH) width = 10 * width + (size_t)(**at - '0');
    return width;
}

/* What follows a percent sign; returns what follows the field. */
static const char *parse_field(const char *at, struct field *field, char why[WHY]) {
    *field = (struct field){0};
    if (*at == '0') {
        field->zero = true;
        at++;
        if (*at != '.') return wrong(why, "leading zero not followed by dot in affinity format");
    }
    if (*at == '.') {
        field->right = true;
        at++;
    }
    if (*at >= '1' && *at <= '9') {
        const char *digits = at;
        field->size = parse_width(&at);
        if (field->size > MOST_WIDTH)
            return wrong(why, "size %.*s in affinity format is larger than %d",
                         (int)(at - digits < WHY ? at - digits : WHY), digits, MOST_WIDTH);
    } else if (field->right) {
        return wrong(why, "leading zero or right justification in affinity format requires size");
    }
    if (*at == '{') return parse_long_name(at + 1, field, why);
    field->type = *at;
    if (*at == '\0' || !strchr("tTLnNaPHiA", *at))
        return wrong(why, "unsupported type %c in affinity format", *at);
    return at + 1;
}

/* Reads the format, and writes what it stands for where there is an `out`. */
static bool expand(struct output *out, const char *format, char why[WHY]) {
    while (*format) {
        size_t plain = strcspn(format, "%");
        if (out) put(out, format, plain);
        format += plain;
        if (*format == '\0') break;
        format++;
        if (*format == '%') {
            if (out) put(out, format, 1);
            format++;
            continue;
        }
        struct field field;
        format = parse_field(format, &field, why);
        if (!format) return false;
        if (out) put_value(out, &field);
    }
    return true;
}

bool cst_affinity_check(const char *format) {
    char why[WHY];
    return expand(NULL, format, why);
}

static size_t capture(struct output *out, const char *format) {
    char why[WHY];
    if (!expand(out, format, why)) cst_message_libgomp_fatal("%s", why);
    return out->used;
}

/* A copy of the format to be used, so that another thread may change it meanwhile; to be freed. */
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

/* In one write: the lines of several threads must not mix. */
void cst_affinity_display(const char *format) {
    char *text = chosen(format);
    struct output measure = {NULL, 0, 0};
    size_t size = capture(&measure, text) + 64; /* names and masks may change meanwhile */
    char *line = cst_memory_get("a line about affinity", size + 1);
    struct output out = {line, size, 0};
    size_t length = capture(&out, text);
    if (length > size) length = size;
    line[length] = '\n';
    fwrite(line, 1, length + 1, stderr);
    free(line);
    free(text);
}
