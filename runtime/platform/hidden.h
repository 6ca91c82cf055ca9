/* Variables of one file that other files of the library use.
 *
 * The compiler's option that hides names is about definitions alone. A variable that is only
 * declared might belong to another library, so its address is read from a table first: one
 * instruction more for each access. */
#ifndef CST_PLATFORM_HIDDEN_H
#define CST_PLATFORM_HIDDEN_H

#define CST_HIDDEN __attribute__((visibility("hidden")))

#endif
