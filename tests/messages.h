/* What tests of readers share: the messages that were given. Include it after cmocka's headers. */
#ifndef TESTS_MESSAGES_H
#define TESTS_MESSAGES_H

#include "base/diag.h"

#include <string.h>

/* Fails unless the messages given so far hold this text. */
static inline void expect_message(const Diagnostics *diags, const char *part)
{
    Text out = {0};
    diag_render(diags, &out);
    if (!out.data || !strstr(out.data, part))
        fail_msg("%s\nlacks: %s", out.data ? out.data : "", part);
    text_free(&out);
}

#endif
