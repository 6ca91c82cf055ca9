/* The events of a team's threads, and their listener. */
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

/* The interface of an entry point: GCC's, LLVM's and Intel's, or that of a library whose pool was
 * adopted. */
enum cst_front {
    CST_FRONT_NONE,
    CST_FRONT_GOMP,
    CST_FRONT_KMP,
    CST_FRONT_ADOPT,
    CST_FRONT_TEST,
    CST_FRONTS
};

/* The call of the program that led to an event: the last call that its thread has made. */
struct cst_origin {
    enum cst_front front;
    const void *address; /* the call's return address */
    const char *source;  /* the compiler's text for the source position; NULL: none */
};

/* A listener. It gets the event, the thread's number and its team's size. It may block while a file
 * is written. */
typedef void cst_trace_function(enum cst_trace_event event, unsigned number, unsigned size,
                                const struct cst_origin *origin);

#endif
