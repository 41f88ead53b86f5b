/* Questions about files that the system did not answer: whether a name is there, of what size it
 * is, what it holds. An error such as EIO, EMFILE or EACCES says neither yes nor no, so that a
 * result which rests on the question may be wrong. The first such question is kept, and from then
 * on file_commit puts no file in place and the command does not end with status 0.
 *
 * Only the program tfc keeps them: a compiled library is a part of another program, which may go on
 * after a failed call. Any thread may call. */
#ifndef BASE_UNANSWERED_H
#define BASE_UNANSWERED_H

#include "base/diag.h"

/* Questions are kept from now on. */
void unanswered_keep(void);
/* A call that was to `what` ("look for", "read") the path failed with this errno. False: the errno
 * is an answer (nothing has the name, or what has it is of another kind), and nothing is kept. */
bool unanswered_note(const char *what, const char *path, int error);
/* False after an error, which names the question that is kept. */
bool unanswered_check(Diagnostics *diags);
/* For a caller that has reported all that failed so far. */
void unanswered_forget(void);

#endif
