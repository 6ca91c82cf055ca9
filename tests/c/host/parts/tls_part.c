/* Takes 64 bytes of the process's static thread-local storage. */
static __thread char block[64] __attribute__((tls_model("initial-exec")));

char *tls_part(void);

char *tls_part(void) {
    return block;
}
