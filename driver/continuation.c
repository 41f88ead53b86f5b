/* A language model goes on with texts. */
#include "driver/continuation.h"

#include <string.h>

int32_t continuation_break(const Vocabulary *vocab)
{
    int32_t newline = vocab_is_characters(vocab) ? vocab_find(vocab, "\n") : -1;
    return newline >= 0 ? newline : vocab_rules(vocab)->end;
}

void continuation_encode(const Vocabulary *vocab, const char *prompt, Ids *ids)
{
    for (const char *at = prompt; *at;) {
        size_t length = strcspn(at, "\n");
        vocab_encode(vocab, at, length, ids);
        at += length;
        if (*at == '\n') {
            ids_push(ids, continuation_break(vocab));
            at++;
        }
    }
}

void continuation_put(const Vocabulary *vocab, const Ids *ids, const char *line_break, Text *out)
{
    int32_t end = continuation_break(vocab);
    for (size_t i = 0; i < ids->count;) {
        size_t stop = i;
        while (stop < ids->count && ids->data[stop] != end)
            stop++;
        vocab_decode(vocab, ids->data + i, stop - i, out);
        if (stop < ids->count)
            text_add(out, "%s", line_break);
        i = stop + 1;
    }
}

DecodeSettings continuation_settings(const Inference *inference, CorpusKind kind)
{
    DecodeSettings s = inference_decode_settings(inference);
    s.sample = true;
    if (kind == CORPUS_STREAM) {
        const TokenRules *rules = vocab_rules(inference->vocab);
        s.bos = continuation_break(inference->vocab);
        s.until_eos = false;
        s.forbidden[1] = rules->begin == s.bos ? -1 : rules->begin;
        s.forbidden[3] = rules->end == s.bos ? -1 : rules->end;
    }
    return s;
}

/* One piece more of each text that is to go on: as much as fits the model's length after
 * the last half of what is there. How many texts that were; -1 after an error. */
static int continue_once(Inference *inference, DecodeSettings settings, int64_t piece, Continuation *texts, int n)
{
    int64_t window = inference_max_length(inference) - 1, numbers[CONTINUATION_ROWS];
    int32_t limits[CONTINUATION_ROWS];
    int row[CONTINUATION_ROWS], rows = 0;
    Tokens prompts[CONTINUATION_ROWS];
    Decoded decoded[CONTINUATION_ROWS];
    for (int i = 0; i < n; i++) {
        Continuation *text = &texts[i];
        if (text->left <= 0)
            continue;
        int64_t seen =
            (int64_t)text->ids.count < window / 2 ? (int64_t)text->ids.count : window / 2;
        prompts[rows] = (Tokens){text->ids.data + text->ids.count - seen, (int32_t)seen};
        limits[rows] = (int32_t)(text->left < window - seen ? text->left : window - seen);
        numbers[rows] = text->number << 32 | piece;
        if (limits[rows] < 1) {
            job_error(inference->job, "%s: the model is too short-sighted to go on", inference->session->model->path);
            return -1;
        }
        row[rows++] = i;
    }
    Arena *arena = arena_new();
    settings.limits = limits;
    bool ok = decode_batch(&inference->stepper, &settings, NULL, prompts, numbers, rows, arena, decoded);
    for (int i = 0; ok && i < rows; i++) {
        Continuation *text = &texts[row[i]];
        ok = decoded[i].n > 0;
        for (int32_t k = 0; ok && k < decoded[i].best[0].n; k++)
            ids_push(&text->ids, decoded[i].best[0].ids[k]);
        bool is_over = !ok || settings.until_eos || decoded[i].best[0].is_stuck;
        text->left = is_over ? 0 : text->left - decoded[i].best[0].n;
    }
    arena_free(arena);
    if (!ok)
        job_error(inference->job, "decoding failed: out of memory, or the model gives no numbers");
    return ok ? rows : -1;
}

bool continuation_run(Inference *inference, const DecodeSettings *settings, Continuation *texts, int n)
{
    int rows = 1;
    for (int64_t piece = 0; rows > 0; piece++)
        rows = continue_once(inference, *settings, piece, texts, n);
    return rows == 0;
}
