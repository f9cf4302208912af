/* Judges the text of a float32 without the writer's own arithmetic. Any thread. */
#ifndef TESTS_SUPPORT_FLOAT_TEXT_H
#define TESTS_SUPPORT_FLOAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `text` reads back to the finite number, for readers that go to float32 at once and for those that go through
 * double; and no text of fewer digits does. */
bool float_text_is_shortest(const char *text, float number);

#endif
