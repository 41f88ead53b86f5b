/* The text of a language model's ids: of all of them, or while they come one by one. */
#ifndef DRIVER_RUN_GROWING_TEXT_H
#define DRIVER_RUN_GROWING_TEXT_H

#include "base/text.h"
#include "runtime/data/ids.h"
#include "runtime/data/vocabulary.h"

/* Appends the text of ids, "\n" for each line break. */
void continuation_put(const Vocabulary *vocab, const Ids *ids, Text *out);

/* GrowingText: what continuation_put gives of ids that come one by one. An id costs as much at the
 * end of a long text as at its beginning: only the last ids are decoded anew.
 *
 *   ids, text        what there is so far
 *   anchor           the first of the ids that are decoded anew
 *   settled, shared  the text's length when `anchor` was chosen, and how many bytes of that the ids
 *                    from `anchor` on gave */
typedef struct GrowingText {
    Ids ids;
    Text text;
    size_t anchor, settled, shared;
} GrowingText;

void growing_text_begin(const Vocabulary *vocab, const Ids *ids, GrowingText *text);
void growing_text_push(const Vocabulary *vocab, GrowingText *text, int32_t id);
void growing_text_free(GrowingText *text);

#endif
