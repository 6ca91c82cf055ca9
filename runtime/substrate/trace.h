/* What may be told of the threads of a team, and to whom. */
#ifndef CST_SUBSTRATE_TRACE_H
#define CST_SUBSTRATE_TRACE_H

enum cst_trace_event {
    CST_TRACE_REGION_BEGINS,
    CST_TRACE_REGION_ENDS,
    CST_TRACE_BARRIER_BEGINS,
    CST_TRACE_BARRIER_ENDS,
    CST_TRACE_TASK_BEGINS,
    CST_TRACE_TASK_ENDS
};

/* Whose entry point was called: GCC's, LLVM's and Intel's; or whose pool of threads is ours now. */
enum cst_front {
    CST_FRONT_NONE,
    CST_FRONT_GOMP,
    CST_FRONT_KMP,
    CST_FRONT_ADOPT,
    CST_FRONT_TEST,
    CST_FRONTS
};

/* Which call of the program led to an event: the last that its thread has made. */
struct cst_origin {
    enum cst_front front;
    const void *address; /* where the call returns to */
    const char *source;  /* the compiler's words for the source position; NULL: none */
};

/* A listener: the event, the thread's number, its team's size. May block for as long as a file is
 * written. */
typedef void cst_trace_function(enum cst_trace_event event, unsigned number, unsigned size,
                                const struct cst_origin *origin);

#endif
