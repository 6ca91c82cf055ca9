/* The cancellation of threads by pthread_cancel. */
#include "platform/platform.h"

#include <pthread.h>

int cst_cancellation_hold(void) {
    int held = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &held);
    return held;
}

void cst_cancellation_release(int held) {
    pthread_setcancelstate(held, NULL);
}
