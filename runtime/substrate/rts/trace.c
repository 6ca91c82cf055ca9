/* OpenMP's events in GHC's event log (+RTS -l).
 *
 * GHC's own calls for events need a Capability, which a worker does not hold. But the log's format
 * is public (GHC's user guide and the package ghc-events): blocks of events with their times, in
 * any order, big-endian. The writer of the log's file is public too, and many threads may call it.
 * Each event here is a block of its own. It has the time of GHC's clock, so it appears beside the
 * events of collections and green threads. */
#include "substrate/rts/rts.h"

#if defined(__GLASGOW_HASKELL__) && !defined(CST_SHARED_LIBRARY)
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Null if the program's runtime system has no log (without -eventlog, before GHC 9.4). The last two
 * are also null if it is a shared library, which hides them. */
extern const EventLogWriter FileEventLogWriter __attribute__((weak));
extern RtsConfig rtsConfig __attribute__((weak));
extern Time stat_getElapsedTime(void) __attribute__((weak));

/* The numbers of the format. */
enum { BLOCK_MARKER = 18, USER_MESSAGE = 19, USER_MARKER = 58 };

enum { HEAD = 2 + 8 + 4 + 8 + 2, EVENT_HEAD = 2 + 8 + 2, LONGEST_TEXT = 64 };

/* From hs_exit on the file may be closed at any time. */
static struct {
    pthread_mutex_t lock;
    bool open;
} file = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void close_log(void) {
    pthread_mutex_lock(&file.lock);
    file.open = false;
    pthread_mutex_unlock(&file.lock);
}

static unsigned char *put(unsigned char *to, uint64_t value, unsigned bytes) {
    while (bytes-- > 0) *to++ = (unsigned char)(value >> 8 * bytes);
    return to;
}

static void write_event(unsigned type, unsigned capability, const char *text, unsigned length) {
    unsigned char block[HEAD + EVENT_HEAD + LONGEST_TEXT];
    uint64_t now = (uint64_t)TimeToNS(stat_getElapsedTime());
    unsigned size = HEAD + EVENT_HEAD + length;
    unsigned char *at = put(block, BLOCK_MARKER, 2);
    at = put(at, now, 8);
    at = put(at, size, 4);
    at = put(at, now, 8);
    at = put(at, capability, 2);
    at = put(at, type, 2);
    at = put(at, now, 8);
    at = put(at, length, 2);
    memcpy(at, text, length);
    pthread_mutex_lock(&file.lock);
    if (file.open) FileEventLogWriter.writeEventLog(block, size);
    pthread_mutex_unlock(&file.lock);
}

static void trace(enum cst_trace_event event, unsigned number, unsigned size,
                  const struct cst_origin *origin) {
    (void)origin;
    static const char *const what[] = {
        [CST_TRACE_REGION_BEGINS] = "region begins",   [CST_TRACE_REGION_ENDS] = "region ends",
        [CST_TRACE_BARRIER_BEGINS] = "barrier begins", [CST_TRACE_BARRIER_ENDS] = "barrier ends",
        [CST_TRACE_TASK_BEGINS] = "task begins",       [CST_TRACE_TASK_ENDS] = "task ends",
    };
    char text[LONGEST_TEXT];
    bool region = event == CST_TRACE_REGION_BEGINS || event == CST_TRACE_REGION_ENDS;
    int length = region ? snprintf(text, sizeof text, "OpenMP: %s, %u threads", what[event], size)
                        : snprintf(text, sizeof text, "OpenMP: %s, thread %u of %u", what[event],
                                   number, size);
    /* A worker belongs to the Capability of its number, as in worker.c. */
    unsigned own = cst_rts_own_capability(), count = cst_rts_capabilities();
    unsigned capability = own != UINT_MAX ? own : count ? number % count : 0;
    write_event(region ? USER_MARKER : USER_MESSAGE, capability, text, (unsigned)length);
}

/* Around a fork: the child of forkProcess comes to hs_exit as well. */
static void lock(void) {
    pthread_mutex_lock(&file.lock);
}

static void unlock(void) {
    pthread_mutex_unlock(&file.lock);
}

static void prepare(void) {
    pthread_atfork(lock, unlock, unlock);
    file.open = cst_rts_at_exit(close_log);
}

cst_trace_function *cst_rts_trace(void) {
    if (!&FileEventLogWriter || !&rtsConfig || !stat_getElapsedTime) return NULL;
    if (eventLogStatus() != EVENTLOG_RUNNING || !RtsFlags.TraceFlags.user ||
        rtsConfig.eventlog_writer != &FileEventLogWriter)
        return NULL;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    return trace;
}

#else

/* In a guest, GHC's runtime system writes no log. */
cst_trace_function *cst_rts_trace(void) {
    return NULL;
}

#endif
