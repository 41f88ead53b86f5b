/* tfc attend: what the heads of a model look at. */
#include "base/file.h"
#include "cli/commands/commands.h"
#include "cli/options/decoding.h"
#include "cli/options/endings.h"
#include "cli/records.h"
#include "driver/analysis/attention.h"
#include "driver/analysis/record_attention.h"
#include "driver/formats/npz.h"
#include "driver/run/evaluation.h"
#include "inspect/attention.h"

#include <inttypes.h>
#include <stdio.h>

enum { ALL = -1 };
#define EVERY_SIDE SIZE_MAX

typedef struct Attend {
    Common common;
    TextFiles texts;
    RecordFiles given; /* of a run that reads tables; of pairs the columns alone */
    const char *languages, *page, *json, *npy, *svg, *kind;
    int64_t layer, head, lines;
    Decoding decoding;
} Attend;

/* Texts: of the first lines, and what is done with them.
 *   decoded   the translations of a corpus of sources; NULL: the targets are given */
typedef struct Texts {
    Corpus *corpus;
    Decoded *decoded;
} Texts;

static unsigned kinds_of(const Attend *o)
{
    for (AttentionKind kind = ATTENTION_ENCODER; kind <= ATTENTION_CROSS; kind++)
        if (!strcmp(o->kind, attention_kind_name(kind)))
            return 1u << kind;
    return 1u << ATTENTION_ENCODER | 1u << ATTENTION_DECODER | 1u << ATTENTION_CROSS;
}

enum { ATTENDED = TEXTS_PAIRS | TEXTS_DATA | TEXTS_TEXT | TEXTS_SOURCE_ALONE };

static bool read_texts(Job *job, const Attend *o, const RunFolder *run, Texts *texts)
{
    const ModelPorts *ports = &run->inference.ports;
    bool pairs = ports->source && ports->target;
    TextFiles given = o->texts;
    if (!common_check_texts(job, run, &given, ATTENDED, &o->given.columns))
        return false;
    Lines *target;
    const TextFiles sources = {.text = given.source};
    const bool is_alone = pairs && !given.target.count && !given.data.count;
    Lines *source = text_files_read(job, is_alone ? &sources : &given, o->languages,
                                    o->common.line_limit, &target);
    if (!source)
        return false;
    source->n = source->n < o->lines ? source->n : o->lines;
    if (target)
        target->n = source->n;
    const CorpusOptions options = {.kind = target          ? CORPUS_PAIRS
                                           : pairs         ? CORPUS_SOURCES
                                           : ports->target ? CORPUS_LINES
                                                           : CORPUS_SENTENCES,
                                   .max_length = inference_max_length(&run->inference),
                                   .keep_all = true,
                                   .refuse_long = true,
                                   .same_lengths = feed_shares_lengths(&run->inference.feed)};
    texts->corpus = corpus_encode(&job->diags, run->vocab, &options,
                                  &(CorpusText){.source = source, .target = target});
    return texts->corpus != NULL;
}

static bool decode(Job *job, const Attend *o, RunFolder *run, Texts *texts)
{
    DecodeSettings settings = inference_decode_settings(&run->inference);
    settings.beam = (int32_t)o->decoding.beam;
    texts->decoded = ARENA_ARRAY(job->arena, Decoded, texts->corpus->n + 1);
    return inference_decode(&run->inference, texts->corpus, &settings, EVALUATION_SEARCH,
                            job->arena, texts->decoded) &&
           inference_check_numbers(&run->inference, texts->corpus, texts->decoded);
}

static const char *const *tokens_of(const Vocabulary *vocab, const int32_t *ids, int64_t n,
                                    Arena *arena)
{
    const char **tokens = ARENA_ARRAY(arena, const char *, n + 1);
    for (int64_t i = 0; i < n; i++)
        tokens[i] = vocab_token(vocab, ids[i]);
    return tokens;
}

static bool has_name(const AttentionSentence *s, const char *name)
{
    for (size_t i = 0; i < s->n_layers; i++)
        if (!strcmp(s->layers[i].name, name))
            return true;
    return false;
}

/* A scope that no layer has among the sentences from `first` to `s`, which are of one line. */
static const char *name_of(const AttentionSentence *first, const AttentionSentence *s,
                           const char *scope, Arena *arena)
{
    const char *base = *scope ? scope : "attention", *name = base;
    for (int again = 2;; again++) {
        const AttentionSentence *at = first;
        while (at <= s && !has_name(at, name))
            at++;
        if (at > s)
            return name;
        name = arena_printf(arena, "%s.%d", base, again);
    }
}

/* The attentions between two sides, with the numbers of their layers. `first`: of its line. */
static void show_layers(const Attend *o, const AttentionOutput *outputs, size_t n, size_t queries,
                        size_t keys, const float *const *weights, Arena *arena,
                        const AttentionSentence *first, AttentionSentence *s)
{
    int64_t numbers[ATTENTION_CROSS + 1] = {0};
    AttentionLayer *layers = ARENA_ARRAY(arena, AttentionLayer, n + 1);
    s->layers = layers;
    for (size_t i = 0; i < n; i++) {
        const AttentionOutput *output = &outputs[i];
        const AttentionKind kind = output->kind;
        if (queries != EVERY_SIDE && (output->queries != queries || output->keys != keys))
            continue;
        int64_t number = numbers[kind]++;
        if ((o->layer != ALL && o->layer != number) || o->head >= output->heads)
            continue;
        AttentionLayer layer = {.name = name_of(first, s, output->scope, arena),
                                .kind = kind,
                                .layer = number,
                                .head = o->head == ALL ? 0 : o->head,
                                .heads = o->head == ALL ? output->heads : 1,
                                .queries = kind == ATTENTION_ENCODER ? s->n_source : s->n_target,
                                .keys = kind == ATTENTION_DECODER ? s->n_target : s->n_source};
        layer.weights = weights[i] + layer.head * layer.queries * layer.keys;
        layers[s->n_layers++] = layer;
    }
}

/* One row; n_layers stays 0 where it has no tokens. */
static bool attend_row(const Attend *o, Attender *attender, const Texts *texts, int64_t row,
                       Arena *arena, AttentionSentence *s)
{
    const Corpus *corpus = texts->corpus;
    const Decoded *decoded = texts->decoded ? &texts->decoded[row] : NULL;
    const Hypothesis *best = decoded && decoded->n ? decoded->best : NULL;
    int64_t n = best ? best->n : rows_length(&corpus->target, row);
    const int32_t *ids = best               ? best->ids
                         : corpus->target.n ? corpus->target.ids.data + corpus->target.start[row]
                                            : NULL;
    AttentionMaps maps;
    *s = (AttentionSentence){.line = corpus->line[row]};
    bool both = attender->inference->ports.source && attender->inference->ports.target;
    if (both || !corpus->target.n ? !rows_length(&corpus->source, row) || (decoded && !best) : !n)
        return true;
    if (!attender_run(attender, corpus, row, ids, n, arena, &maps))
        return false;
    s->n_source = maps.pair.n_source;
    s->n_target = maps.pair.n_target;
    s->n_end = s->n_source && corpus_source_ends(corpus, row).after >= 0;
    s->source = tokens_of(vocab_source(corpus->vocab), maps.pair.source, s->n_source, arena);
    s->target = tokens_of(corpus->vocab, maps.pair.fed, s->n_target, arena);
    s->next = tokens_of(corpus->vocab, maps.pair.next, s->n_target, arena);
    show_layers(o, attender->outputs, attender->n, EVERY_SIDE, EVERY_SIDE, maps.weights, arena, s,
                s);
    return true;
}

/* Whether any attention is the layer's and has the head. */
static bool check_choice(Job *job, const Attend *o, const AttentionOutput *outputs, size_t n)
{
    int64_t numbers[ATTENTION_CROSS + 1] = {0}, layers = 0, heads = 0;
    for (size_t i = 0; i < n; i++) {
        const AttentionOutput *output = &outputs[i];
        const int64_t number = numbers[output->kind]++;
        layers = number + 1 > layers ? number + 1 : layers;
        if ((o->layer == ALL || o->layer == number) && output->heads > heads)
            heads = output->heads;
    }
    if (o->layer >= layers)
        return attention_refuse(job, "--layer", o->layer, layers, "the model", "layer", "");
    return o->head < heads ||
           attention_refuse(job, "--head", o->head, heads,
                            o->layer == ALL ? "a layer" : "the layer", "head", "");
}

static bool write_npy(Job *job, const char *path, const AttentionView *view)
{
    VEC(NpyArray) arrays = {0};
    for (size_t i = 0; i < view->n; i++)
        for (size_t l = 0; l < view->sentences[i].n_layers; l++) {
            const AttentionLayer *layer = &view->sentences[i].layers[l];
            NpyArray array = {.name = arena_printf(job->arena, "%" PRId64 ".%s",
                                                   view->sentences[i].line, layer->name),
                              .rank = 3,
                              .dims = {layer->heads, layer->queries, layer->keys},
                              .data = layer->weights};
            vec_push(job->arena, arrays, array);
        }
    return npz_write(&job->diags, path, arrays.data, (int64_t)arrays.count);
}

static bool write_text(Job *job, const char *path, Text *text)
{
    bool ok = cli_write(job, path, text);
    text_free(text);
    return ok;
}

static bool write_views(Job *job, const Attend *o, const AttentionView *view)
{
    Text page = {0}, json = {0}, svg = {0};
    if (o->page)
        attention_put_page(view, &page);
    if (o->json)
        attention_put_json(view, &json);
    if (o->svg)
        attention_put_svg(view, &view->sentences[0], &svg);
    bool ok = !o->page || write_text(job, o->page, &page);
    ok = (!o->json || write_text(job, o->json, &json)) && ok;
    ok = (!o->svg || write_text(job, o->svg, &svg)) && ok;
    return ok && (!o->npy || write_npy(job, o->npy, view));
}

/* ---- records ---- */

/* Of a record: each side over itself, then each over another, a sentence each. Returns how many. */
static size_t show_record(const Attend *o, const RecordAttender *a, const RecordMaps *maps,
                          int64_t line, Arena *arena, AttentionSentence *sentences)
{
    size_t n = 0;
    for (size_t apart = 0; apart < a->n_sides; apart++)
        for (size_t keys = 0; keys < a->n_sides; keys++) {
            const size_t queries = (keys + apart) % a->n_sides;
            AttentionSentence *s = &sentences[n];
            *s = (AttentionSentence){.line = line,
                                     .source = maps->tokens[keys],
                                     .n_source = maps->n[keys],
                                     .n_end = maps->n_end[keys]};
            if (queries != keys) {
                s->target = s->next = maps->tokens[queries];
                s->n_target = maps->n[queries];
            }
            show_layers(o, a->outputs, a->n, queries, keys, maps->weights, arena, sentences, s);
            n += s->n_layers > 0;
        }
    return n;
}

static bool read_records(Job *job, const Attend *o, const RunFolder *run,
                         const RecordAttender *attender, Corpus **corpus)
{
    RecordFiles given = o->given;
    CorpusText text = {0};
    if (!given.files.count)
        given.files = o->texts.text;
    given.line_limit = o->common.line_limit;
    if (o->texts.source.count || !given.files.count)
        return cli_refuse(
            job, "%s reads a table: give it, or lines of its one text, as --input FILE", run->path);
    int64_t n = 0;
    CorpusTold told = {0};
    TableStream *table = records_open(job, run, &attender->predictor, &given);
    if (table && table_stream_rest(table, o->lines, &text, &n))
        *corpus = predictor_corpus(&attender->predictor, job, &text, 0, n, &told);
    table_stream_close(table);
    if (*corpus)
        predictor_tell(&attender->predictor, job, &text, &told);
    return *corpus != NULL;
}

/* Of a run that reads tables. */
static bool attend_records(Job *job, const Attend *o, RunFolder *run)
{
    RecordAttender attender;
    Corpus *corpus = NULL;
    bool ok = record_attender_prepare(&attender, job, &run->inference, &run->columns, run->kind,
                                      kinds_of(o)) &&
              check_choice(job, o, attender.outputs, attender.n) &&
              run_folder_load(job, run, o->common.checkpoint) &&
              read_records(job, o, run, &attender, &corpus);
    cli_flush(job);
    AttentionView view = {.title = file_name(run->path)};
    RecordMaps *maps = ok ? ARENA_ARRAY(job->arena, RecordMaps, corpus->n + 1) : NULL;
    const size_t each = attender.n_sides * attender.n_sides;
    AttentionSentence *sentences =
        ok ? ARENA_ARRAY(job->arena, AttentionSentence, (size_t)corpus->n * each + 1) : NULL;
    view.sentences = sentences;
    ok = ok && record_attender_run(&attender, job, corpus, job->arena, maps);
    for (int64_t row = 0; ok && row < corpus->n; row++)
        view.n += show_record(o, &attender, &maps[row], corpus->line[row], job->arena,
                              sentences + view.n);
    if (ok && !view.n)
        ok =
            job_error(job, "no record can be shown: each is empty, or longer than the model takes");
    ok = ok && write_views(job, o, &view);
    record_attender_free(&attender);
    corpus_free(corpus);
    return ok;
}

static bool attend(Job *job, const void *record, RunFolder *run)
{
    const Attend *o = record;
    if (run->inference.ports.is_table)
        return attend_records(job, o, run);
    if (o->given.files.count)
        return cli_refuse(
            job, "--input is of models that are fed by columns, and %s is not: give %s", run->path,
            text_files_options(job->arena, "",
                               run->kind == CORPUS_PAIRS ? ATTENDED & ~TEXTS_TEXT : TEXTS_TEXT));
    Texts texts = {0};
    Attender attender = {0};
    bool ok = read_texts(job, o, run, &texts);
    bool translates = ok && texts.corpus->options.kind == CORPUS_SOURCES;
    ok = ok && attender_prepare(&attender, &run->inference, kinds_of(o)) &&
         check_choice(job, o, attender.outputs, attender.n) &&
         (!translates || inference_prepare_decode(&run->inference)) &&
         run_folder_load(job, run, o->common.checkpoint);
    cli_flush(job);
    ok = ok && (!translates || decode(job, o, run, &texts));
    AttentionView view = {.title = arena_printf(job->arena, "%s", file_name(run->path))};
    AttentionSentence *sentences =
        ok ? ARENA_ARRAY(job->arena, AttentionSentence, texts.corpus->n + 1) : NULL;
    for (int64_t row = 0; ok && row < texts.corpus->n; row++) {
        ok = attend_row(o, &attender, &texts, row, job->arena, &sentences[view.n]);
        view.n += ok && sentences[view.n].n_layers;
    }
    view.sentences = sentences;
    if (ok && !view.n)
        ok = job_error(job, "no line can be shown: each is empty, or longer than the model takes");
    ok = ok && write_views(job, o, &view);
    attender_free(&attender);
    corpus_free(texts.corpus);
    return ok;
}

static int run_attend(Job *job, void *record, const Arguments *arguments)
{
    const Attend *o = record;
    const char *mistake = text_files_mistake(job->arena, &o->texts, "", ATTENDED);
    if (mistake)
        return cli_usage_error("%s", mistake);
    if (!o->page && !o->json && !o->npy && !o->svg)
        return cli_usage_error(
            "no output is named: give -o PAGE.html, --json FILE, --npy FILE or --svg FILE");
    if (o->page && !ending_kind(job, "attend", o->page, NULL, NULL))
        return EXIT_USAGE;
    return common_run(job, &o->common, arguments->words[0], attend, o);
}

static const Option options[] = {
    {"source", "FILE", FIELD(Attend, texts.source), 0, NULL, "source text, one sentence a line"},
    {"target", "FILE", FIELD(Attend, texts.target), 0, NULL,
     "target text, with as many lines as the source (translations by the model)"},
    {"data", "FILE", FIELD(Attend, texts.data), 0, NULL, "pairs " PAIRS_HELP},
    {"languages", "A,B", FIELD(Attend, languages), 0, NULL,
     "languages of sources and targets in translation memories, such as en,de"},
    {"text", "FILE", FIELD(Attend, texts.text), 0, NULL, "text of a model with one input"},
    {"input", "FILE", FIELD(Attend, given.files), 0, NULL,
     "of a model that is fed by columns: a table, or lines if its attentions read one field"},
    OPTION_COLUMN(Attend, given.columns),
    {"lines", "N", FIELD(Attend, lines), 1, "8", "show the first N lines of the text"},
    {"output", "PAGE.html", OUTPUT(Attend, page), 0, NULL, "write a page with all heads"},
    {"json", "FILE", OUTPUT(Attend, json), 0, NULL,
     "write tokens, weights and figures of heads as JSON"},
    {"npy", "FILE", OUTPUT(Attend, npy), 0, NULL,
     "write a NumPy .npz with an array LINE.NAME [heads, queries, keys] for each line and layer"},
    {"svg", "FILE", OUTPUT(Attend, svg), 0, NULL,
     "write a figure of the first sentence: all heads, or one head with its tokens"},
    {"kind", "encoder|decoder|cross|all", FIELD(Attend, kind), 0, "all",
     "show only attentions of this kind"},
    {"layer", "L", FIELD(Attend, layer), 0, "-1",
     "show only layer L of each kind, from 0 (all layers)"},
    {"head", "H", FIELD(Attend, head), 0, "-1", "show only head H, from 0 (all heads)"},
#define RECORD Attend
#define BEAM DECODING_OPTION
#include "runtime/decode/settings.def"
    OPTION_CHECKPOINT(Attend),
    OPTION_WEIGHTS(Attend),
    OPTION_VOCAB(Attend),
    OPTION_SOURCE_VOCAB(Attend),
    OPTION_TOKEN(Attend, common.vocab.tokens),
    OPTION_SET(Attend),
    OPTION_LINE_LIMIT(Attend),
    OPTION_THREADS(Attend),
    OPTION_GEMM(Attend),
    OPTION_CPU(Attend),
    OPTION_PASSES(Attend),
    OPTION_ALLOW_OUTSIDE(Attend),
};

const Command command_attend = {
    .name = "attend",
    .summary = "show what each head of a model attends to",
    .arguments = "RUN|MODEL.tfg",
    .min_arguments = 1,
    .max_arguments = 1,
    .text =
        "Writes the weights of a model's attentions, encoder, decoder and cross, for sentences: "
        "as a page to look at, as JSON and NumPy arrays, or as a figure. An attention is a "
        "softmax of tokens over tokens. Of a table each text is shown by itself, and then what looks "
        "from one text at another.",
    COMMAND_OPTIONS(Attend, options),
    .run = run_attend,
};
