/* Whether this program, and with it the daemon of its variant, is built with a sanitizer: it works several times as
 * long, and what it holds is mostly the sanitizer's own: shadow memory and what was freed. So its tests take fewer
 * random inputs, and of memory only what the daemon counts itself says anything. */
#ifndef TESTS_SUPPORT_SANITIZED_H
#define TESTS_SUPPORT_SANITIZED_H

/* GCC says it with macros, clang with features. */
#ifdef __has_feature
#define SANITIZED_FEATURES (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED_FEATURES 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || SANITIZED_FEATURES
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

#endif
