/* Files that a folder of a run, or of a published model, is known by, of arbitrary bytes: the first
 * line of an input names the file, the rest is what it holds. It is read, or an error tells why
 * not; what it says of tokens becomes the rules and the ids that it names. */
#define _GNU_SOURCE
#include "base/file.h"
#include "driver/exchange/import_config.h"
#include "driver/exchange/import_text.h"
#include "driver/run/record.h"
#include "driver/formats/shards.h"
#include "runtime/data/token_rules.h"
#include "base/proto.h"
#include "runtime/text/sentencepiece/sp.h"
#include "runtime/train/runlog.h"
#include "tests/fuzz/budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void need(bool holds)
{
    if (!holds)
        abort();
}

static bool read_log(Job *job, const char *folder)
{
    RunLog log = {0};
    return runlog_read(&job->diags, job->arena, job_reach(job, folder), &log);
}

static bool read_index(Job *job, const char *folder)
{
    Shards *shards = shards_open(&job->diags, job->arena, folder);
    bool ok = shards != NULL;
    for (size_t i = 0; ok && i < shards->names.count; i++)
        if (!shards_find(shards, shards->names.data[i]))
            abort();
    shards_close(shards);
    return ok;
}

static bool read_record(Job *job, const char *folder)
{
    RunRecord record = {0};
    return run_record_read(job, folder, &record);
}

/* ---- tokens ---- */

/* The pieces of a unigram model that stands beside each file; those at the end have names that
 * rules are written with. */
static const struct {
    const char *text;
    SpType type;
    /* clang-format off */
} pieces[] = {{"<unk>", SP_UNKNOWN}, {"<s>", SP_CONTROL}, {"</s>", SP_CONTROL}, {"\xe2\x96\x81", SP_NORMAL}, {"a", SP_NORMAL},
              {"b", SP_NORMAL}, {"\xe2\x96\x81" "a", SP_NORMAL}, {"ab", SP_USER}, {"none", SP_NORMAL}, {"#1", SP_NORMAL},
              {"a=b", SP_NORMAL}, {"\"\n", SP_NORMAL}};
/* clang-format on */
enum { N_PIECES = sizeof pieces / sizeof *pieces, N_IDS = N_PIECES + 2 };

static Text make_model(void)
{
    Text out = {0};
    for (int i = 0; i < N_PIECES; i++) {
        const char n = (char)strlen(pieces[i].text);
        const char head[] = {1 << 3 | PROTO_BYTES, (char)(n + 9), 1 << 3 | PROTO_BYTES, n};
        const char tail[] = {2 << 3 | PROTO_4,    0,          0,
                             (char)(16 * i),      (char)0xc0, 3 << 3 | PROTO_VARINT,
                             (char)pieces[i].type};
        text_put(&out, head, sizeof head);
        text_string(&out, pieces[i].text);
        text_put(&out, tail, sizeof tail);
    }
    return out;
}

static const JsonValue *json_of(Job *job, const char *folder, const char *name)
{
    const char *problem;
    const Source *file =
        file_read(&job->diags, job->arena, file_in(job->arena, folder, name), 1 << 24);
    return json_read(job->arena, file->text, file->length, &problem);
}

/* As Marian cuts a text: the model's own pieces, each looked up in the list. */
static void check_cut(Job *job, const Vocabulary *vocab, const JsonValue *list, const char *model,
                      const char *text)
{
    const char *problem;
    const Source *file = file_read(&job->diags, job->arena, model, 1 << 20);
    Tokenizer *plain = tokenizer_sentencepiece(file->text, file->length, &problem);
    TokenIds theirs = {0};
    Ids ours = {0};
    need(plain && tokenizer_encode(plain, text, strlen(text), &theirs));
    need(vocab_encode(vocab, text, strlen(text), &ours) && ours.count == theirs.count);
    for (size_t i = 0; i < ours.count; i++) {
        const JsonValue *id = json_member(list, pieces[theirs.data[i]].text);
        need(ours.data[i] == (id ? id->integer : vocab_rules(vocab)->unk));
    }
    token_ids_free(&theirs);
    ids_free(&ours);
    tokenizer_free(plain);
}

static bool read_pieces(Job *job, const char *folder)
{
    const Vocabulary *vocab = vocab_load(&job->diags, job->arena, folder);
    const JsonValue *list = vocab ? json_of(job, folder, "vocab.json") : NULL;
    need(!vocab || (list && vocab_size(vocab) == (int64_t)list->n));
    for (size_t i = 0; vocab && i < list->n; i++)
        need(!strcmp(vocab_token(vocab, (int32_t)list->items[i].integer), list->keys[i]));
    if (vocab)
        check_cut(job, vocab, list, file_in(job->arena, folder, "source.spm"),
                  "a ab  bb none #1 \xc3\xa4 x");
    return vocab != NULL;
}

/* Of that model, with two rows for no token. */
static Vocabulary *load_vocabulary(Job *job, const char *folder)
{
    static const char *const size[] = {"size=14"};
    Vocabulary *vocab =
        vocab_load(&job->diags, job->arena, file_in(job->arena, folder, "source.spm"));
    need(vocab && token_rules_set(vocab, &job->diags, size, 1) && vocab_size(vocab) == N_IDS);
    return vocab;
}

/* The id that a rule has, by its name. */
static int32_t rule_of(const Vocabulary *vocab, const char *name)
{
    const TokenRules *r = vocab_rules(vocab);
    const struct {
        const char *name;
        int32_t id;
    } all[] = {{"begin", r->begin},
               {"end", r->end},
               {"pad", r->pad},
               {"source-begin", r->source_begin},
               {"first", r->first}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].name, name))
            return all[i].id;
    abort();
}

static bool read_config(Job *job, const char *folder)
{
    ImportConfig config = {0};
    TextList tokens = {0};
    Text model = {0};
    if (!import_config_read(job, folder, NULL, &config))
        return false;
    import_config_size(job, &config, "vocab_size");
    Vocabulary *vocab = load_vocabulary(job, folder);
    bool ok = import_config_tokens(job, &config, vocab, &tokens) &&
              token_rules_set(vocab, &job->diags, tokens.data, tokens.count);
    for (const ImportRow *row = config.model->rows; ok && row->key; row++) {
        const JsonValue *id =
            row->kind == IMPORT_TOKEN ? import_config_value(job, &config, row->key) : NULL;
        const bool has = id && import_config_has_token(vocab, id->integer);
        need(!id || id->kind == JV_NULL || rule_of(vocab, row->to) == (has ? id->integer : -1));
    }
    ok = ok && import_config_model(job, folder, &config, vocab, &model);
    text_free(&model);
    return ok;
}

static ImportConfig fixed_config(Job *job)
{
    static const char text[] = "{\"eos_token_id\": [0, 2]}";
    const char *problem;
    return (ImportConfig){
        .source = diag_source(job->arena, "config.json", text, sizeof text - 1),
        .json = json_read(job->arena, text, sizeof text - 1, &problem),
        .model = import_model(job, &(ImportSought){.type = "llama", .tensors = &(TextList){0}})};
}

static void check_stops(const Vocabulary *vocab, const JsonValue *ids)
{
    const TextRule *rule = &vocab_rules(vocab)->text;
    int32_t n = ids->kind == JV_NULL ? 0 : ids->kind == JV_LIST ? (int32_t)ids->n : 1, stops = 0;
    for (int32_t i = 0; i < n; i++) { /* 2.0 is a whole number; an id of no token is none */
        const double id = (ids->kind == JV_LIST ? &ids->items[i] : ids)->number;
        if (id >= 0 && id < vocab_size(vocab))
            need(rule->stops[stops++] == id);
    }
    need(rule->n_stops == stops);
}

/* Whether a special token stands there: as the file says, else as at first. */
static void check_frame(const JsonValue *said, bool at_first, int32_t special, int32_t is)
{
    need(!said || said->kind == JV_TRUE || said->kind == JV_FALSE || said->kind == JV_NULL);
    need(is == ((said ? said->kind == JV_TRUE : at_first) ? special : -1));
}

/* tokenizer_config.json and generation_config.json. */
static bool read_text_rule(Job *job, const char *folder)
{
    ImportConfig config = fixed_config(job);
    TextList tokens = {0};
    Vocabulary *vocab = load_vocabulary(job, folder);
    const TokenRules first = *vocab_rules(vocab);
    if (!import_config_generation(job, folder, &config) ||
        !import_text_tokens(job, folder, &config, vocab, &tokens) ||
        !token_rules_set(vocab, &job->diags, tokens.data, tokens.count))
        return false;
    bool of_text = file_exists(file_in(job->arena, folder, "tokenizer_config.json"));
    const JsonValue *file =
        json_of(job, folder, of_text ? "tokenizer_config.json" : "generation_config.json");
    const JsonValue *stops = of_text ? NULL : json_member(file, "eos_token_id");
    const TextRule *rule = &vocab_rules(vocab)->text;
    check_stops(vocab, stops ? stops : json_member(config.json, "eos_token_id"));
    check_frame(of_text ? json_member(file, "add_bos_token") : NULL, true, first.begin,
                rule->begin);
    check_frame(of_text ? json_member(file, "add_eos_token") : NULL, false, first.end, rule->end);
    return file->kind == JV_OBJECT;
}

/* ---- all of them ---- */

static const struct {
    const char *name;
    bool (*read)(Job *job, const char *folder);
} readers[] = {{"log.jsonl", read_log},
               {"model.safetensors.index.json", read_index},
               {"run.json", read_record},
               {"config.json", read_config},
               {"vocab.json", read_pieces},
               {"tokenizer_config.json", read_text_rule},
               {"generation_config.json", read_text_rule}};

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    need(file && (!size || fwrite(bytes, size, 1, file)) && !fclose(file));
}

/* A folder of this process, with a tensor for indices to name, and SentencePiece models. */
static const char *make_folder(void)
{
    static char folder[] = "/tmp/fuzz-folder-XXXXXX";
    static const char header[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
    const uint64_t length = sizeof header - 1;
    Text tensor = {0}, model = make_model();
    Arena *arena = arena_new();
    need(mkdtemp(folder));
    text_put(&tensor, (const char *)&length, sizeof length);
    text_put(&tensor, header, sizeof header - 1);
    text_put(&tensor, "\0\0\0\0", 4);
    write_file(file_in(arena, folder, "a.safetensors"), tensor.data, tensor.length);
    write_file(file_in(arena, folder, "source.spm"), model.data, model.length);
    write_file(file_in(arena, folder, "target.spm"), model.data, model.length);
    text_free(&tensor);
    text_free(&model);
    arena_free(arena);
    return folder;
}

static const char *folder;

static void remove_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command))
        fputs("the folder stays\n", stderr);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *line = memchr(bytes, '\n', size);
    size_t n = line ? (size_t)(line - bytes) : 0, kind = 0;
    while (kind < sizeof readers / sizeof *readers &&
           (strlen(readers[kind].name) != n || memcmp(readers[kind].name, bytes, n)))
        kind++;
    if (kind == sizeof readers / sizeof *readers)
        return 0;
    if (!folder) {
        folder = make_folder();
        atexit(remove_folder);
    }
    Job job = {.arena = arena_new()};
    diag_init(&job.diags, job.arena);
    const char *path = arena_printf(job.arena, "%s/%s", folder, readers[kind].name);
    write_file(path, bytes + n + 1, size - n - 1);
    bool ok = readers[kind].read(&job, folder);
    need(ok == !job.diags.errors);
    need_budget(job.arena, BUDGET_TEXT, size);
    remove(path);
    Text text = {0};
    diag_render(&job.diags, &text);
    text_free(&text);
    arena_free(job.arena);
    return 0;
}
