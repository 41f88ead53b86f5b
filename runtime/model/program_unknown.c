/* Counting and telling unknown tokens of a text, in programs. */
#include "runtime/model/program_unknown.h"

#include <stdio.h>

void program_count_unknown(TfcSessionHandle *session, UnknownCount *count)
{
    int64_t tokens, unknown;
    if (tfc_model_unknown(session, &tokens, &unknown, NULL))
        return;
    count->tokens += tokens;
    count->unknown += unknown;
}

void program_tell_unknown(const char *program, const UnknownCount *count)
{
    char note[UNKNOWN_NOTE_BYTES];
    if (!unknown_is_above(count, UNKNOWN_TOLD))
        return;
    unknown_note(count, "the text's tokens", note);
    fprintf(stderr, "%s: %s\n", program, note);
}
