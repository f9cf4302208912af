/* A locale with a decimal comma, made where the test runs: no machine need have it installed. */
#ifndef TESTS_SUPPORT_GERMAN_LOCALE_H
#define TESTS_SUPPORT_GERMAN_LOCALE_H

/* A new temporary folder that holds de_DE.UTF-8, for LOCPATH; temporary_remove removes it. Fails the running
 * test where localedef or its sources (Debian: package locales) are missing. */
char *german_locale_folder(void);

#endif
