/* Makes the calls of a batch.
 *
 * The calling convention determines the registers of arguments. The conventions of Capstan's
 * platforms (System V on x86-64, AAPCS64) have a common rule. Integers and pointers are numbered
 * among themselves, and go into general registers. Floating-point numbers are numbered among
 * themselves, and go into their registers, a float into the lower half. The order in which the two
 * kinds are mixed does not matter.
 *
 * So a function of any type may be called as a function that takes first its integers, then its
 * doubles, and returns one of the two. C does not promise this, but the platform does; libffi
 * relies on such promises too. */
#include "haskell/batch.h"

#include "numbers.h"

_Static_assert(CST_CALL_INTEGERS >= 6 && CST_CALL_REALS >= 8, "no argument is on the stack");
_Static_assert(sizeof(struct cst_batch_record) == 24, "Capstan.Batch.Internal writes three words");

/* The first n of x(0), x(1), and so on, each with a comma before it; REST removes the first
 * comma. */
#define FIRST_0(x)
#define FIRST_1(x) FIRST_0(x), x(0)
#define FIRST_2(x) FIRST_1(x), x(1)
#define FIRST_3(x) FIRST_2(x), x(2)
#define FIRST_4(x) FIRST_3(x), x(3)
#define FIRST_5(x) FIRST_4(x), x(4)
#define FIRST_6(x) FIRST_5(x), x(5)
#define FIRST_7(x) FIRST_6(x), x(6)
#define FIRST_8(x) FIRST_7(x), x(7)
#define REST(...) REST_OF(__VA_ARGS__)
#define REST_OF(none, ...) __VA_ARGS__

/* The type with these numbers of integers and doubles, and the arguments for it. */
#define INTEGER_TYPE(n) uint64_t
#define FLOAT_TYPE(n) double
#define INTEGER(n) record->argument[n].integer
#define TYPES(integers, floats) REST(~FIRST_##integers(INTEGER_TYPE) FIRST_##floats(FLOAT_TYPE))
#define ARGUMENTS(integers, floats)                                                                \
    REST(~FIRST_##integers(INTEGER) FIRST_##floats(FLOAT_##integers))
#define FLOAT_0(n) record->argument[0 + (n)].number
#define FLOAT_1(n) record->argument[1 + (n)].number
#define FLOAT_2(n) record->argument[2 + (n)].number
#define FLOAT_3(n) record->argument[3 + (n)].number
#define FLOAT_4(n) record->argument[4 + (n)].number
#define FLOAT_5(n) record->argument[5 + (n)].number
#define FLOAT_6(n) record->argument[6 + (n)].number

#define SHAPE(integers, floats, returns_float) (((integers)*9 + (floats)) * 2 + (returns_float))

/* A loop for calls of one shape, which often come in a row. */
#define CALLS(integers, floats, type, field, returns_float)                                        \
    case SHAPE(integers, floats, returns_float):                                                   \
        do {                                                                                       \
            record->result.field =                                                                 \
                ((type(*)(TYPES(integers, floats)))record->function)(ARGUMENTS(integers, floats)); \
            record = (struct cst_batch_record *)&record->argument[(integers) + (floats)];          \
        } while (record != end && record->shape == SHAPE(integers, floats, returns_float));        \
        break;
#define EITHER(integers, floats)                                                                   \
    CALLS(integers, floats, uint64_t, integer, 0) CALLS(integers, floats, double, number, 1)
#define EACH_FLOATS(integers)                                                                      \
    EITHER(integers, 0)                                                                            \
    EITHER(integers, 1)                                                                            \
    EITHER(integers, 2)                                                                            \
    EITHER(integers, 3)                                                                            \
    EITHER(integers, 4)                                                                            \
    EITHER(integers, 5) EITHER(integers, 6) EITHER(integers, 7) EITHER(integers, 8)

void cst_batch_run(struct cst_batch_record *record, const struct cst_batch_record *end) {
    while (record != end) {
        switch (record->shape) {
            EACH_FLOATS(0)
            EACH_FLOATS(1)
            EACH_FLOATS(2)
            EACH_FLOATS(3)
            EACH_FLOATS(4)
            EACH_FLOATS(5)
            EACH_FLOATS(6)
        default:
            __builtin_unreachable(); /* the types of Capstan.Batch admit no other shape */
        }
    }
}
