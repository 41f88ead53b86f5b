/* What compiled programs tell of unknown tokens, after the last line of a text. */
#ifndef RUNTIME_MODEL_PROGRAM_UNKNOWN_H
#define RUNTIME_MODEL_PROGRAM_UNKNOWN_H

#include "base/unknown.h"
#include "runtime/model/model.h"

/* Adds the tokens of the session's last call with text. */
void program_count_unknown(TfcSessionHandle *session, UnknownCount *count);
/* Prints a note if the share of unknown ones is above UNKNOWN_TOLD. */
void program_tell_unknown(const char *program, const UnknownCount *count);

#endif
