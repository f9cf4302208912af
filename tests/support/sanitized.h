/* How this program, and with it the daemon of its variant, is built and run. With a sanitizer what it holds is mostly the
 * sanitizer's own: shadow memory and what was freed; of its memory only what the daemon counts itself says anything. Where
 * it works many times as long, tests take fewer random inputs. */
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

/* EMULATED: on a processor that is not there (tests/arm64/check.sh). */
#if defined(EMULATED) || !defined(__OPTIMIZE__)
enum { IS_SLOW = 1 };
#else
enum { IS_SLOW = IS_SANITIZED };
#endif

#endif
