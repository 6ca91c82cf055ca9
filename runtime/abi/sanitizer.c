/* What AddressSanitizer asks a program before it does anything: its options.
 *
 * It ends a process in which a library stands before it in the loader's order, as that library
 * could take functions that it must intercept. A preloaded libgomp.so.1 stands there, and defines
 * no function of the C library's. A program's own answer comes before this one. */
#if defined(CST_SHARED_LIBRARY) && !defined(__GLASGOW_HASKELL__)

/* The name is AddressSanitizer's. Called before this library is relocated. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void) {
    return "verify_asan_link_order=0";
}

#endif
