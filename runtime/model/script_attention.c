/* What an answer's tokens were made from, for scripts:
 *
 *   "attention": {"source": ["▁Ein", "▁Hund", "</s>"], "target": ["▁A", "▁dog", "</s>"],
 *                 "source_words": [0, 1, -1], "target_words": [0, 1, -1],
 *                 "weights": [[0.9, 0.1, 0], …]}
 *
 * weights: a row a token of the target, of as many as the source has tokens, as tfc translate
 * --attention --json has them. Words count from 0 between blanks of line and answer; -1: begin and
 * end. */
#include "runtime/model/script.h"

#include "runtime/model/state.h"
#include "runtime/text/words/token_words.h"

#include <string.h>

/* One side: its text, ids with what stands around them, and where those of the text lie. */
typedef struct PairSide {
    const Tokenizer *tokenizer;
    const char *text;
    size_t length;
    const int32_t *ids;
    int64_t n, first, own;
} PairSide;

/* Line `number` of the text. */
static const char *find_line(const char *text, int64_t number, size_t *length)
{
    for (; number > 0 && strchr(text, '\n'); number--)
        text = strchr(text, '\n') + 1;
    *length = strcspn(text, "\n");
    return text;
}

static PairSide source_side(const TfcLoaded *loaded, const char *text, const TfcTranslation *t)
{
    const TextFrame *frame = &loaded->model->text->frame;
    PairSide side = {.tokenizer = loaded->source,
                     .ids = t->source,
                     .n = t->n_source,
                     .first = frame->begin >= 0,
                     .own = t->n_source - text_frame_size(frame)};
    side.text = find_line(text, t->line, &side.length);
    return side;
}

static PairSide target_side(const TfcLoaded *loaded, const TfcTranslation *t, const int32_t *fed)
{
    int64_t n = t->result.n, first = loaded->model->first;
    bool begins = n && first >= 0 && fed[1] == first; /* with a token that has no text */
    return (PairSide){.tokenizer = loaded->target,
                      .text = t->text,
                      .length = (size_t)t->length,
                      .ids = fed + 1,
                      .n = n + 1,
                      .first = begins,
                      .own = n - begins};
}

static bool put_words(const PairSide *side, const char *key, Arena *arena, JsonWriter *json)
{
    int64_t *words = ARENA_ARRAY(arena, int64_t, side->own + 1), n_words;
    bool ok = words && token_words(side->tokenizer, side->text, side->length,
                                   side->ids + side->first, (size_t)side->own, words, &n_words);
    json_open(json, key, '[');
    for (int64_t i = 0; ok && i < side->n; i++) {
        int64_t at = i - side->first;
        json_put_integer(json, NULL, at >= 0 && at < side->own ? words[at] : -1);
    }
    json_close(json, ']');
    return ok;
}

/* bos, the result's ids, eos: what is fed is all but the last, what is predicted all but the first.
 * NULL: no memory. */
static int32_t *frame_target(const TfcModel *model, const TfcResult *result, Arena *arena)
{
    int32_t *ids = ARENA_ARRAY(arena, int32_t, result->n + 2);
    if (!ids)
        return NULL;
    text_ends_put((TextEnds){(int32_t)model->bos, (int32_t)model->eos}, result->ids, result->n,
                  ids);
    return ids;
}

static int put_attention(const TfcLoaded *loaded, TfcSessionHandle *session, const char *text,
                         const TfcTranslation *t, Arena *arena, JsonWriter *json)
{
    int32_t *framed = frame_target(loaded->model, &t->result, arena);
    const float *weights;
    if (!framed)
        return tfc_model_no_memory();
    int status = tfc_model_alignment(session, (int32_t)t->n_source, t->source,
                                     (int32_t)t->result.n + 1, framed, &weights);
    if (status)
        return status;
    PairSide source = source_side(loaded, text, t), target = target_side(loaded, t, framed);
    json_open(json, "attention", '{');
    bool ok = script_put_tokens(source.tokenizer, "source", source.ids, source.n, arena, json) &&
              script_put_tokens(target.tokenizer, "target", target.ids, target.n, arena, json) &&
              put_words(&source, "source_words", arena, json) &&
              put_words(&target, "target_words", arena, json);
    json_put_rows(json, "weights", weights, target.n, source.n, ALIGNMENT_DECIMALS);
    json_close(json, '}');
    return ok ? TFC_OK : tfc_model_no_memory();
}

int script_put_attention(TfcSessionHandle *handle, const char *text, const TfcTranslation *t,
                         JsonWriter *json)
{
    int status;
    TfcSession *session = t->n_source ? session_enter(handle, USE_READ, &status) : NULL;
    if (!session)
        return t->n_source ? status : TFC_OK;
    const TfcLoaded *loaded = session->loaded; /* which the session keeps */
    session_leave(session, USE_READ, TFC_OK);
    Arena *arena = arena_try_new();
    status = arena ? put_attention(loaded, handle, text, t, arena, json) : tfc_model_no_memory();
    arena_free(arena);
    return status;
}
