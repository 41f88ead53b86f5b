/* The first question about a file that the system did not answer. */
#include "base/unanswered.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* NOTING_ONE: one thread writes the question. */
enum { NOT_KEEPING, NONE_KEPT, NOTING_ONE, ONE_KEPT };
static _Atomic int state = NOT_KEEPING;
static struct {
    char what[16], path[PATH_MAX];
    int error;
} question;

void unanswered_keep(void) { state = NONE_KEPT; }

/* Whether the errno says what has the name, or that nothing has it. */
static bool is_answer(int error)
{
    static const int answers[] = {ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EISDIR, ENXIO, EBADF};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (error == answers[i])
            return true;
    return false;
}

bool unanswered_note(const char *what, const char *path, int error)
{
    int none = NONE_KEPT;
    if (is_answer(error))
        return false;
    if (!atomic_compare_exchange_strong(&state, &none, NOTING_ONE))
        return true;
    snprintf(question.what, sizeof question.what, "%s", what);
    snprintf(question.path, sizeof question.path, "%s", path);
    question.error = error;
    state = ONE_KEPT;
    return true;
}

bool unanswered_check(Diagnostics *diags)
{
    if (state != ONE_KEPT)
        return true;
    diag_file(diags, question.what, question.path, "%s", strerror(question.error));
    return false;
}

void unanswered_forget(void)
{
    int kept = ONE_KEPT;
    atomic_compare_exchange_strong(&state, &kept, NONE_KEPT);
}
