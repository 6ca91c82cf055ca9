/* The options for which AddressSanitizer asks a program at its start.
 *
 * AddressSanitizer ends a process in which a library comes before it in the loader's order, as that
 * library could define functions that AddressSanitizer must intercept. A preloaded libgomp.so.1
 * does come before it, but defines no function of the C library. A program's own definition takes
 * precedence over this one. */
#if defined(CST_SHARED_LIBRARY) && !defined(__GLASGOW_HASKELL__)

/* The name is AddressSanitizer's. Called before this library is relocated. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void) {
    return "verify_asan_link_order=0";
}

#endif
