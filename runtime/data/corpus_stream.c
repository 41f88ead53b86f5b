/* A text as one stream of tokens, from which windows are cut. */
#include "runtime/data/corpus_rows.h"

#include "base/arena.h"

enum { MOST_PENDING = 64 << 20 }; /* bytes that are encoded at once */

static void push_some(Corpus *corpus, int32_t id)
{
    if (id >= 0)
        ids_push(&corpus->target.ids, id);
}

/* What stands before the stream's first token. */
static void begin_stream(Corpus *corpus)
{
    const TokenRules *rules = vocab_rules(corpus->vocab);
    bool is_published = rules->text.newline < 0;
    if (is_published && corpus->options.place == STREAM_FOLLOWS)
        push_some(corpus, rules->end);
    if (is_published ? corpus->options.place != STREAM_GOES_ON : corpus->options.keep_all)
        push_some(corpus, rules->text.begin);
}

static void encode_pending(Corpus *corpus)
{
    if (!corpus->pending.length)
        return;
    corpus_encode_text(corpus, corpus->vocab, corpus->pending.data, corpus->pending.length,
                       corpus->pending_line, &corpus->target.ids);
    corpus->pending.length = 0;
}

static void put_pending(Corpus *corpus, const char *text, size_t length)
{
    memory_need(token_text_put(&corpus->pending, text, length));
}

void corpus_add_stream(Corpus *corpus, const Line *line)
{
    int32_t newline = vocab_rules(corpus->vocab)->text.newline;
    bool is_first = !corpus->lines++;
    if (is_first)
        begin_stream(corpus);
    if (newline >= 0) {
        corpus_encode_text(corpus, corpus->vocab, line->text, line->length, corpus->lines - 1,
                           &corpus->target.ids);
        ids_push(&corpus->target.ids, newline);
        return;
    }
    if (corpus->pending.length > MOST_PENDING)
        encode_pending(corpus);
    if (!corpus->pending.length)
        corpus->pending_line = corpus->lines - 1;
    if (!is_first || corpus->options.place == STREAM_GOES_ON)
        put_pending(corpus, "\n", 1);
    put_pending(corpus, line->text, line->length);
}

void corpus_close_stream(Corpus *corpus, bool ends)
{
    encode_pending(corpus);
    if (ends && vocab_rules(corpus->vocab)->text.newline < 0)
        push_some(corpus, vocab_rules(corpus->vocab)->text.end);
    rows_close(&corpus->target);
    corpus->n = corpus->own = 1;
}
