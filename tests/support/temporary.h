/* A folder for one test's files. A failure to make one ends the test program. */
#ifndef TESTS_SUPPORT_TEMPORARY_H
#define TESTS_SUPPORT_TEMPORARY_H

/* A new empty folder; temporary_remove removes it with all that is in it and frees the string. */
char *temporary_folder(void);
/* FOLDER/NAME, malloc'ed. */
char *temporary_path(const char *folder, const char *name);
void temporary_remove(char *folder);

#endif
