/* Atomic updates as calls, which Intel's compilers emitted and MKL's libraries still make: one
 * table of types and operations. A value of up to eight bytes is updated by compare-and-swap. A
 * larger value is updated under a lock that its address selects, so a program must use these calls
 * for every access to it.
 *
 * `x` is the variable's value, `y` the operand. A call whose name ends in _cpt returns a value: the
 * new value if the last argument is true, else the old one. With _rev, the operand stands on the
 * left. */
#include "abi/kmp/facts.h"
#include "abi/whole.h"
#include "core/front.h"
#include "platform/platform.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): types and names are no expressions */

CST_WHOLE(kmp_atomic);

#define PUBLIC __attribute__((visibility("default")))
#define UNUSED (void)loc, (void)thread

/* --- larger values: locks ------------------------------------------------------------------ */

enum { LOCKS = 64, GRAIN = 16 };

static struct { CST_LINE_ALIGNED cst_lock lock; } locks[LOCKS];

static cst_lock *lock_of(const void *address) {
    return &locks[(uintptr_t)address / GRAIN % LOCKS].lock;
}

/* One lock for all updates that have no call of their own. */
static CST_LINE_ALIGNED cst_lock any;

PUBLIC void __kmpc_atomic_start(void);
PUBLIC void __kmpc_atomic_end(void);
void __kmpc_atomic_start(void) {
    cst_lock_acquire(&any);
}
void __kmpc_atomic_end(void) {
    cst_lock_release(&any);
}

/* --- the update of a value ---------------------------------------------------------------- */

/* Each macro defines TYPE name(TYPE *at, TYPE y, bool newer), from `name` and an expression of x
 * and y. */

#define BY_SWAP(name, type, image, operand, value)                                                 \
    static inline type name(type *at, operand y, bool newer) {                                     \
        _Atomic(image) *word = (_Atomic(image) *)(void *)at;                                       \
        union {                                                                                    \
            image bits;                                                                            \
            type number;                                                                           \
        } before, after;                                                                           \
        (void)y;                                                                                   \
        before.bits = cst_load_relaxed(word);                                                      \
        do {                                                                                       \
            type x = before.number;                                                                \
            (void)x;                                                                               \
            after.bits = 0;                                                                        \
            after.number = (type)(value);                                                          \
        } while (!cst_cas_seq_cst_found(word, &before.bits, after.bits));                          \
        return newer ? after.number : before.number;                                               \
    }

#define BY_LOCK(name, type, image, operand, value)                                                 \
    static inline type name(type *at, operand y, bool newer) {                                     \
        cst_lock *lock = lock_of(at);                                                              \
        (void)y;                                                                                   \
        cst_lock_acquire(lock);                                                                    \
        type x = *at, after = (type)(value);                                                       \
        *at = after;                                                                               \
        cst_lock_release(lock);                                                                    \
        return newer ? after : x;                                                                  \
    }

/* --- the calls ----------------------------------------------------------------------------- */

#define UPDATE(by, kind, type, image, operand, name, value)                                        \
    by(do_##kind##_##name, type, image, operand, value) PUBLIC void __kmpc_atomic_##kind##_##name( \
        kmp_loc *loc, int32_t thread, type *at, operand y);                                        \
    void __kmpc_atomic_##kind##_##name(kmp_loc *loc, int32_t thread, type *at, operand y) {        \
        UNUSED;                                                                                    \
        do_##kind##_##name(at, y, false);                                                          \
    }

#define CAPTURE(kind, type, name, ending)                                                          \
    PUBLIC type __kmpc_atomic_##kind##_##ending(kmp_loc *loc, int32_t thread, type *at, type y,    \
                                                int32_t newer);                                    \
    type __kmpc_atomic_##kind##_##ending(kmp_loc *loc, int32_t thread, type *at, type y,           \
                                         int32_t newer) {                                          \
        UNUSED;                                                                                    \
        return do_##kind##_##name(at, y, newer);                                                   \
    }

/* The result of a complex number in eight bytes is returned by address. */
#define CAPTURE_OUT(kind, type, name, ending)                                                      \
    PUBLIC void __kmpc_atomic_##kind##_##ending(kmp_loc *loc, int32_t thread, type *at, type y,    \
                                                type *out, int32_t newer);                         \
    void __kmpc_atomic_##kind##_##ending(kmp_loc *loc, int32_t thread, type *at, type y,           \
                                         type *out, int32_t newer) {                               \
        UNUSED;                                                                                    \
        *out = do_##kind##_##name(at, y, newer);                                                   \
    }

#define OPERATION(capture, by, kind, type, image, name, value)                                     \
    UPDATE(by, kind, type, image, type, name, value)                                               \
    capture(kind, type, name, name##_cpt)
#define REVERSE(capture, by, kind, type, image, name, value)                                       \
    UPDATE(by, kind, type, image, type, name##_rev, value)                                         \
    capture(kind, type, name##_rev, name##_cpt_rev)

#define READ_WRITE(by, kind, type, image)                                                          \
    by(do_##kind##_read, type, image, type, x) by(do_##kind##_write, type, image, type, y)         \
        PUBLIC type __kmpc_atomic_##kind##_rd(kmp_loc *loc, int32_t thread, type *at);             \
    type __kmpc_atomic_##kind##_rd(kmp_loc *loc, int32_t thread, type *at) {                       \
        UNUSED;                                                                                    \
        return do_##kind##_read(at, 0, false);                                                     \
    }                                                                                              \
    PUBLIC void __kmpc_atomic_##kind##_wr(kmp_loc *loc, int32_t thread, type *at, type y);         \
    void __kmpc_atomic_##kind##_wr(kmp_loc *loc, int32_t thread, type *at, type y) {               \
        UNUSED;                                                                                    \
        do_##kind##_write(at, y, false);                                                           \
    }
#define SWAP(kind, type)                                                                           \
    PUBLIC type __kmpc_atomic_##kind##_swp(kmp_loc *loc, int32_t thread, type *at, type y);        \
    type __kmpc_atomic_##kind##_swp(kmp_loc *loc, int32_t thread, type *at, type y) {              \
        UNUSED;                                                                                    \
        return do_##kind##_write(at, y, false);                                                    \
    }
#define SWAP_OUT(kind, type)                                                                       \
    PUBLIC void __kmpc_atomic_##kind##_swp(kmp_loc *loc, int32_t thread, type *at, type y,         \
                                           type *out);                                             \
    void __kmpc_atomic_##kind##_swp(kmp_loc *loc, int32_t thread, type *at, type y, type *out) {   \
        UNUSED;                                                                                    \
        *out = do_##kind##_write(at, y, false);                                                    \
    }

/* --- the table ----------------------------------------------------------------------------- */

#define ARITHMETIC(capture, by, kind, type, image)                                                 \
    READ_WRITE(by, kind, type, image)                                                              \
    OPERATION(capture, by, kind, type, image, add, x + y)                                          \
    OPERATION(capture, by, kind, type, image, sub, x - y)                                          \
    OPERATION(capture, by, kind, type, image, mul, x *y)                                           \
    OPERATION(capture, by, kind, type, image, div, x / y)                                          \
    REVERSE(capture, by, kind, type, image, sub, y - x)                                            \
    REVERSE(capture, by, kind, type, image, div, y / x)

#define ORDER(by, kind, type, image)                                                               \
    OPERATION(CAPTURE, by, kind, type, image, max, x < y ? y : x)                                  \
    OPERATION(CAPTURE, by, kind, type, image, min, x > y ? y : x)

#define INTEGER(kind, type, image)                                                                 \
    ARITHMETIC(CAPTURE, BY_SWAP, kind, type, image)                                                \
    SWAP(kind, type)                                                                               \
    ORDER(BY_SWAP, kind, type, image)                                                              \
    OPERATION(CAPTURE, BY_SWAP, kind, type, image, andb, x &y)                                     \
    OPERATION(CAPTURE, BY_SWAP, kind, type, image, orb, x | y)                                     \
    OPERATION(CAPTURE, BY_SWAP, kind, type, image, xor, x ^ y)                                     \
    OPERATION(CAPTURE, BY_SWAP, kind, type, image, andl, x &&y)                                    \
    OPERATION(CAPTURE, BY_SWAP, kind, type, image, orl, x || y)                                    \
    OPERATION(CAPTURE, BY_SWAP, kind, type, image, eqv, x ^ ~y)                                    \
    OPERATION(CAPTURE, BY_SWAP, kind, type, image, neqv, x ^ y)                                    \
    OPERATION(CAPTURE, BY_SWAP, kind, type, image, shl, x << y)                                    \
    OPERATION(CAPTURE, BY_SWAP, kind, type, image, shr, x >> y)                                    \
    REVERSE(CAPTURE, BY_SWAP, kind, type, image, shl, y << x)                                      \
    REVERSE(CAPTURE, BY_SWAP, kind, type, image, shr, y >> x)                                      \
    UPDATE(BY_SWAP, kind, type, image, double, mul_float8, x *y)                                   \
    UPDATE(BY_SWAP, kind, type, image, double, div_float8, x / y)

/* The operations that differ for unsigned types. */
#define UNSIGNED(kind, type)                                                                       \
    OPERATION(CAPTURE, BY_SWAP, kind, type, type, div, x / y)                                      \
    OPERATION(CAPTURE, BY_SWAP, kind, type, type, shr, x >> y)                                     \
    REVERSE(CAPTURE, BY_SWAP, kind, type, type, div, y / x)                                        \
    REVERSE(CAPTURE, BY_SWAP, kind, type, type, shr, y >> x)

INTEGER(fixed1, int8_t, uint8_t)
INTEGER(fixed2, int16_t, uint16_t)
INTEGER(fixed4, int32_t, uint32_t)
INTEGER(fixed8, int64_t, uint64_t)
UNSIGNED(fixed1u, uint8_t)
UNSIGNED(fixed2u, uint16_t)
UNSIGNED(fixed4u, uint32_t)
UNSIGNED(fixed8u, uint64_t)

ARITHMETIC(CAPTURE, BY_SWAP, float4, float, uint32_t)
SWAP(float4, float)
ORDER(BY_SWAP, float4, float, uint32_t)
UPDATE(BY_SWAP, float4, float, uint32_t, double, add_float8, x + y)
UPDATE(BY_SWAP, float4, float, uint32_t, double, sub_float8, x - y)
UPDATE(BY_SWAP, float4, float, uint32_t, double, mul_float8, x *y)
UPDATE(BY_SWAP, float4, float, uint32_t, double, div_float8, x / y)
ARITHMETIC(CAPTURE, BY_SWAP, float8, double, uint64_t)
SWAP(float8, double)
ORDER(BY_SWAP, float8, double, uint64_t)
ARITHMETIC(CAPTURE, BY_LOCK, float10, long double, none)
SWAP(float10, long double)
ORDER(BY_LOCK, float10, long double, none)

typedef _Complex float complex4;
typedef _Complex double complex8;
typedef _Complex long double complex10;
ARITHMETIC(CAPTURE_OUT, BY_SWAP, cmplx4, complex4, uint64_t)
SWAP_OUT(cmplx4, complex4)
UPDATE(BY_SWAP, cmplx4, complex4, uint64_t, complex8, add_cmplx8, x + y)
UPDATE(BY_SWAP, cmplx4, complex4, uint64_t, complex8, sub_cmplx8, x - y)
UPDATE(BY_SWAP, cmplx4, complex4, uint64_t, complex8, mul_cmplx8, x *y)
UPDATE(BY_SWAP, cmplx4, complex4, uint64_t, complex8, div_cmplx8, x / y)
ARITHMETIC(CAPTURE, BY_LOCK, cmplx8, complex8, none)
SWAP(cmplx8, complex8)
ARITHMETIC(CAPTURE, BY_LOCK, cmplx10, complex10, none)
SWAP(cmplx10, complex10)

/* --- compare and swap ---------------------------------------------------------------------- */

#define COMPARE(size, type)                                                                        \
    PUBLIC bool __kmpc_atomic_bool_##size##_cas(kmp_loc *loc, int32_t thread, type *at,            \
                                                type expected, type wanted);                       \
    PUBLIC type __kmpc_atomic_val_##size##_cas(kmp_loc *loc, int32_t thread, type *at,             \
                                               type expected, type wanted);                        \
    PUBLIC bool __kmpc_atomic_bool_##size##_cas_cpt(kmp_loc *loc, int32_t thread, type *at,        \
                                                    type expected, type wanted, type *out);        \
    PUBLIC type __kmpc_atomic_val_##size##_cas_cpt(kmp_loc *loc, int32_t thread, type *at,         \
                                                   type expected, type wanted, type *out);         \
    bool __kmpc_atomic_bool_##size##_cas(kmp_loc *loc, int32_t thread, type *at, type expected,    \
                                         type wanted) {                                            \
        UNUSED;                                                                                    \
        return cst_cas_seq_cst_found((_Atomic(type) *)(void *)at, &expected, wanted);              \
    }                                                                                              \
    type __kmpc_atomic_val_##size##_cas(kmp_loc *loc, int32_t thread, type *at, type expected,     \
                                        type wanted) {                                             \
        UNUSED;                                                                                    \
        cst_cas_seq_cst_found((_Atomic(type) *)(void *)at, &expected, wanted);                     \
        return expected;                                                                           \
    }                                                                                              \
    bool __kmpc_atomic_bool_##size##_cas_cpt(kmp_loc *loc, int32_t thread, type *at,               \
                                             type expected, type wanted, type *out) {              \
        UNUSED;                                                                                    \
        bool done = cst_cas_seq_cst_found((_Atomic(type) *)(void *)at, &expected, wanted);         \
        if (!done) *out = expected;                                                                \
        return done;                                                                               \
    }                                                                                              \
    type __kmpc_atomic_val_##size##_cas_cpt(kmp_loc *loc, int32_t thread, type *at, type expected, \
                                            type wanted, type *out) {                              \
        UNUSED;                                                                                    \
        bool done = cst_cas_seq_cst_found((_Atomic(type) *)(void *)at, &expected, wanted);         \
        *out = done ? wanted : expected;                                                           \
        return expected;                                                                           \
    }

COMPARE(1, uint8_t)
COMPARE(2, uint16_t)
COMPARE(4, uint32_t)
COMPARE(8, uint64_t)

/* --- any operation ------------------------------------------------------------------------- */

typedef void kmp_operation(void *result, void *value, void *operand);

#define ANY(size, type)                                                                            \
    PUBLIC void __kmpc_atomic_##size(kmp_loc *loc, int32_t thread, void *at, void *operand,        \
                                     kmp_operation *operation);                                    \
    void __kmpc_atomic_##size(kmp_loc *loc, int32_t thread, void *at, void *operand,               \
                              kmp_operation *operation) {                                          \
        UNUSED;                                                                                    \
        _Atomic(type) *word = at;                                                                  \
        type before = cst_load_relaxed(word), after;                                               \
        do operation(&after, &before, operand);                                                    \
        while (!cst_cas_seq_cst_found(word, &before, after));                                      \
    }
#define ANY_BY_LOCK(size)                                                                          \
    PUBLIC void __kmpc_atomic_##size(kmp_loc *loc, int32_t thread, void *at, void *operand,        \
                                     kmp_operation *operation);                                    \
    void __kmpc_atomic_##size(kmp_loc *loc, int32_t thread, void *at, void *operand,               \
                              kmp_operation *operation) {                                          \
        UNUSED;                                                                                    \
        cst_lock_acquire(lock_of(at));                                                             \
        operation(at, at, operand);                                                                \
        cst_lock_release(lock_of(at));                                                             \
    }

ANY(1, uint8_t)
ANY(2, uint16_t)
ANY(4, uint32_t)
ANY(8, uint64_t)
ANY_BY_LOCK(10)
ANY_BY_LOCK(16)
ANY_BY_LOCK(20)
ANY_BY_LOCK(32)

/* NOLINTEND(bugprone-macro-parentheses) */
