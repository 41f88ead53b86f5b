/* Fuzz target: any bytes as lines of pairs, a source, a tab and its target. The first byte of an
 * input says how they are read: lines of a shard, whether lines may be long, and whether all of tfc
 * prepare runs on them. Read whole, line by line, as training data and as prepared data they are
 * the pairs that a few lines here find, each line is kept or counted, and the tokens of what is
 * kept are the text; or an error tells why not. */
#define _GNU_SOURCE
#include "base/file.h"
#include "driver/corpus/prepare_texts.h"
#include "base/unpack.h"
#include "tests/fuzz/budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { SHORT_LINE = 30, MOST_TOKENS = 8, ROWS_A_SHARD = 3, IS_SHORT = 4, IS_PREPARED = 8 };
static char folder[] = "/tmp/fuzz-pairs-XXXXXX";

static void need(bool holds)
{
    if (!holds)
        abort();
}

static void remove_folder(void) { file_remove_tree(folder); }

/* Case: the text, and the pairs that are in it. */
typedef struct Case {
    Job job;
    const char *path;
    const uint8_t *bytes;
    size_t size;
    int64_t line_limit, rows_per_shard;
    bool is_text; /* each line is a pair */
    int64_t n;
    Line (*pairs)[2];
} Case;

/* ---- what is there ---- */

static bool is_utf8(const uint8_t *text, size_t n)
{
    for (size_t i = 0, length; i < n; i += length)
        if (!text[i] || !(length = utf8_length((const char *)text + i, n - i)))
            return false;
    return true;
}

/* Whether the line from `at` on, of n bytes, is a pair. */
static bool find_pair(const Case *c, size_t at, size_t n, Line pair[2])
{
    const uint8_t *text = c->bytes + at;
    size_t first = 0, second;
    while (first < n && text[first] != '\t')
        first++;
    for (second = first + 1; second < n && text[second] != '\t';)
        second++;
    pair[0] = (Line){(const char *)text, first};
    pair[1] = (Line){(const char *)text + first + 1, second - first - 1};
    return first < n && is_utf8(text, n) && (!c->line_limit || n <= (size_t)c->line_limit);
}

static void find_pairs(Case *c)
{
    bool is_marked = c->size >= 3 && !memcmp(c->bytes, "\xEF\xBB\xBF", 3);
    c->pairs = arena_array(c->job.arena, c->size + 1, sizeof *c->pairs);
    c->is_text = !text_foreign((const char *)c->bytes, c->size) &&
                 !(c->size > 2 && c->bytes[0] == 0x1f && c->bytes[1] == 0x8b);
    for (size_t at = is_marked ? 3 : 0, end; at < c->size; at = end + 1) {
        for (end = at; end < c->size && c->bytes[end] != '\n';)
            end++;
        size_t n = end - at;
        n -= n && c->bytes[end - 1] == '\r';
        c->is_text = find_pair(c, at, n, c->pairs[c->n++]) && c->is_text;
    }
    const uint8_t *returns =
        memchr(c->bytes, '\n', c->size) ? NULL : memchr(c->bytes, '\r', c->size);
    c->is_text = c->is_text && !(returns && returns + 1 < c->bytes + c->size);
}

static bool same(const Line *a, const Line *b)
{
    return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

/* Asserts that an error was reported exactly if the call failed, and clears the diagnostics. */
static void need_told(Case *c, bool ok)
{
    need(ok == !c->job.diags.errors);
    diag_init(&c->job.diags, c->job.arena);
}

/* ---- reading ---- */

static Lines *read_whole(Case *c, Lines **targets)
{
    Lines *sources =
        pair_text_read(&c->job, c->path, &(TextList){0}, "en,de", c->line_limit, targets);
    need_told(c, sources != NULL);
    need(c->is_text == (sources != NULL) &&
         (!sources || (sources->n == c->n && (*targets)->n == c->n)));
    for (int64_t i = 0; sources && i < c->n; i++)
        need(same(&sources->at[i], &c->pairs[i][0]) && same(&(*targets)->at[i], &c->pairs[i][1]));
    return sources;
}

static bool read_shard(Case *c, const TextPart *part, const TextCut *cut, int64_t *line)
{
    PairReader reader;
    Line sides[2];
    bool ok = pair_reader_open(&c->job.diags, part, cut, c->line_limit, &reader);
    need(cut->line == *line && cut->lines > 0);
    for (int64_t i = 0; ok && i < cut->lines; i++, ++*line) {
        ok = pair_reader_next(&c->job.diags, &reader, sides);
        need(!ok || (*line < c->n && same(&sides[0], &c->pairs[*line][0]) &&
                     same(&sides[1], &c->pairs[*line][1])));
    }
    pair_reader_close(&reader);
    return ok;
}

static PrepareOptions options_of(const Case *c)
{
    return (PrepareOptions){.texts.data = {.data = (const char **)&c->path, .count = 1},
                            .vocab.spec = "chars:auto",
                            .max_length = MOST_TOKENS,
                            .line_limit = c->line_limit,
                            .rows_per_shard = c->rows_per_shard,
                            .window_rows = 100,
                            .threads = 1,
                            .folder = arena_printf(c->job.arena, "%s/prepared", folder)};
}

static void read_lines(Case *c)
{
    TextParts parts;
    const PrepareOptions options = options_of(c);
    bool ok = prepare_texts(&c->job, &options, &parts);
    int64_t line = 0;
    for (int64_t i = 0; ok && i < parts.data->n_cuts; i++)
        ok = read_shard(c, parts.data, &parts.data->cuts[i], &line);
    need_told(c, ok);
    need(ok == (c->is_text && c->n > 0) &&
         (!ok || (line == c->n && parts.data->text[0].lines == c->n)));
    prepare_texts_free(&parts);
}

/* ---- learning from it ---- */

static int64_t tokens_of(const Line *line)
{
    int64_t n = 0;
    for (size_t i = 0; i < line->length; i += utf8_length(line->text + i, line->length - i))
        n++;
    return n;
}

static void need_row(const Vocabulary *vocab, const Rows *rows, int64_t i, const Line *line)
{
    Text text = {0};
    need(rows_length(rows, i) == tokens_of(line));
    vocab_decode(vocab, rows->ids.data + rows->start[i], (size_t)rows_length(rows, i), &text);
    need(text.length == line->length &&
         (!text.length || !memcmp(text.data, line->text, text.length)));
    text_free(&text);
}

/* The rows of a training: each line is there, or is counted. */
static Corpus *learn(Case *c, const Vocabulary *vocab, const Lines *sources, const Lines *targets)
{
    const CorpusOptions options = {.kind = CORPUS_PAIRS, .max_length = MOST_TOKENS};
    Corpus *corpus = corpus_encode(&c->job.diags, vocab, &options,
                                   &(CorpusText){.source = sources, .target = targets});
    int64_t kept = 0, empty = 0, is_long = 0;
    need_told(c, corpus != NULL);
    for (int64_t i = 0; i < c->n; i++) {
        int64_t source = tokens_of(&c->pairs[i][0]), target = tokens_of(&c->pairs[i][1]);
        empty += !source || !target;
        is_long += source >= MOST_TOKENS || target >= MOST_TOKENS;
        if (!source || !target || source >= MOST_TOKENS || target >= MOST_TOKENS)
            continue;
        need(corpus && kept < corpus->n && corpus->line[kept] == i);
        need_row(vocab, &corpus->source, kept, &c->pairs[i][0]);
        need_row(vocab, &corpus->target, kept++, &c->pairs[i][1]);
    }
    need(corpus ? corpus->n == kept && corpus->lines == c->n && corpus->empty == empty &&
                      corpus->long_ == is_long
                : !kept);
    return corpus;
}

static void need_side(const TokenShard *shard, const TokenSide *side, const Rows *rows,
                      int64_t first)
{
    Ids ids = {0};
    const int64_t begin = rows->start[first], n = rows->start[first + shard->rows] - begin;
    need(side->tokens == n);
    token_shard_ids(side, 0, n, &ids);
    need(!n || !memcmp(ids.data, rows->ids.data + begin, sizeof *ids.data * (size_t)n));
    for (int64_t i = 0; i < shard->rows; i++)
        need(token_shard_length(side, i) == rows_length(rows, first + i));
    ids_free(&ids);
}

/* As tfc prepare; `corpus`: what a training has of the text, NULL: nothing. */
static void prepare_all(Case *c, const Vocabulary *vocab, const Corpus *corpus)
{
    PrepareResult made;
    const PrepareOptions options = options_of(c);
    bool ok = prepare(&c->job, &options, &made);
    const FileReach data = {.folder = options.folder};
    const Prepared *p = ok ? prepared_open(&c->job.diags, c->job.arena, data) : NULL;
    need(ok == (corpus != NULL) && ok == (p != NULL));
    need_told(c, ok);
    need(!ok || (p->lines == c->n && p->rows == corpus->n && p->empty == corpus->empty &&
                 p->long_ == corpus->long_ &&
                 !strcmp(p->vocabulary, prepared_vocabulary(c->job.arena, vocab))));
    int64_t row = 0;
    for (size_t i = 0; ok && i < p->shards.count; i++) {
        TokenShard shard;
        need(token_shard_open(&c->job.diags,
                              prepared_shard_path(c->job.arena, options.folder, (int64_t)i),
                              &shard) &&
             row + shard.rows <= corpus->n);
        need_side(&shard, &shard.source, &corpus->source, row);
        need_side(&shard, &shard.target, &corpus->target, row);
        row += shard.rows;
        token_shard_close(&shard);
    }
    need(!ok || row == corpus->n);
    file_remove_tree(options.folder);
}

static void make_folder(void)
{
    static bool is_made;
    if (is_made)
        return;
    need(mkdtemp(folder) != NULL);
    atexit(remove_folder);
    is_made = true;
}

static void try_case(Case *c, bool prepares)
{
    Lines *targets, *sources;
    find_pairs(c);
    read_lines(c);
    /* compressed texts are read whole alone: fuzz_packed.c */
    bool is_packed = unpack_program((const char *)c->bytes, c->size) != NULL;
    sources = is_packed ? NULL : read_whole(c, &targets);
    if (!sources)
        return;
    const Lines *const sides[] = {sources, targets};
    const Vocabulary *vocab =
        vocab_make(&c->job.diags, c->job.arena, "chars:auto", sides, 2, false);
    need_told(c, vocab != NULL);
    Corpus *corpus = vocab ? learn(c, vocab, sources, targets) : NULL;
    if (prepares)
        prepare_all(c, vocab, corpus);
    corpus_free(corpus);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!size)
        return 0;
    make_folder();
    Case c = {.job.arena = arena_new(), .bytes = bytes + 1, .size = size - 1};
    diag_init(&c.job.diags, c.job.arena);
    c.path = arena_printf(c.job.arena, "%s/pairs.tsv", folder);
    c.line_limit = bytes[0] & IS_SHORT ? SHORT_LINE : 0;
    c.rows_per_shard = bytes[0] & ROWS_A_SHARD;
    FILE *file = fopen(c.path, "w");
    need(file && (!c.size || fwrite(c.bytes, c.size, 1, file)) && !fclose(file));
    try_case(&c, bytes[0] & IS_PREPARED);
    need_budget(c.job.arena, BUDGET_TEXT, size);
    arena_free(c.job.arena);
    return 0;
}
