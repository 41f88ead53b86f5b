/* What the files of a cross-encoder say of pairs and scores. */
#include "driver/exchange/import_pairs.h"

#include "base/file.h"
#include "driver/exchange/import_json.h"
#include "driver/exchange/import_labels.h"
#include "driver/exchange/import_sentences.h"

#include <string.h>

/* An error at config.json; false. */
static bool refuse_pairs_folder(Job *job, const PairsFolder *pairs, const char *text)
{
    diag_error(&job->diags, (Loc){.source = pairs->config}, "%s", text);
    return false;
}

/* ---- whether it reads pairs ---- */

/* config_sentence_transformers.json of a cross-encoder; NULL: there is none. */
static const JsonValue *own_settings(Job *job, const char *folder)
{
    Job quiet = job_quiet(job, job->arena);
    const JsonValue *json;
    if (!import_json_read(&quiet, folder, SENTENCES_SETTINGS, JV_OBJECT, &json) || !json)
        return NULL;
    const char *type = json_member_text(json, "model_type");
    return type && !strcmp(type, "CrossEncoder") ? json : NULL;
}

bool import_pairs_are(Job *job, const char *folder, const JsonValue *config)
{
    const JsonValue *said = json_member(config, PAIRS_OBJECT);
    return (said && said->kind == JV_OBJECT) || json_member(config, PAIRS_OLDER) ||
           own_settings(job, folder);
}

const Source *import_pairs_say(Job *job, const Source *config)
{
    const char *brace = memchr(config->text, '{', config->length);
    if (!brace || strstr(config->text, PAIRS_OLDER))
        return config;
    const int front = (int)(brace + 1 - config->text);
    const char *text = arena_printf(job->arena, "%.*s\"" PAIRS_OLDER "\": null, %s", front,
                                    config->text, config->text + front);
    return diag_source(job->arena, config->path, text, strlen(text));
}

/* ---- the score ---- */

/* The function of the score, as a name of PyTorch's; that of sentence-transformers where no file
 * says one. NULL after an error. */
static const char *find_function(Job *job, const PairsFolder *pairs)
{
    const JsonValue *own = own_settings(job, pairs->folder),
                    *said = json_member(pairs->json, PAIRS_OBJECT);
    const char *name = own ? json_member_text(own, PAIRS_KEY) : NULL;
    if (!name && said)
        name = json_member_text(said, PAIRS_KEY);
    if (!name)
        name = json_member_text(pairs->json, PAIRS_OLDER);
    return name ? name : import_labels_one(pairs->json) ? PAIRS_SIGMOID : PAIRS_IDENTITY;
}

static bool put_function(Job *job, const PairsFolder *pairs, Text *out)
{
    const char *name = find_function(job, pairs), *dot = strrchr(name, '.');
    const bool is_probable = !strcmp(name, PAIRS_SIGMOID);
    if (!is_probable && (!dot || strcmp(dot, ".Identity") != 0))
        return refuse_pairs_folder(
            job, pairs,
            arena_printf(job->arena,
                         "the function of its scores is %s: models/%s knows Sigmoid and Identity",
                         text_visible_name(job->arena, name), pairs->model->files[0]));
    text_add(out, "const %s = %s\n",
             pairs->model->gives == GIVES_SCORE ? "probable" : "independent",
             is_probable ? "true" : "false");
    return true;
}

/* ---- the tokens between ---- */

/* PairTemplate: the special tokens of a pair, by their names.
 *   separators   how many stand between the texts; all are the one behind the last text
 *   second       the segment of the second text */
typedef struct PairTemplate {
    int64_t separators, second;
} PairTemplate;

/* "pair" of TemplateProcessing: a token, $A, one or two tokens, $B, the same token. */
static bool read_pair(const JsonValue *list, PairTemplate *pair)
{
    const char *between[2] = {NULL, NULL}, *after = NULL;
    int texts = 0, n_between = 0, n_before = 0, n_after = 0;
    for (size_t i = 0; list && list->kind == JV_LIST && i < list->n; i++) {
        const JsonValue *special = json_member(&list->items[i], "SpecialToken"),
                        *text = json_member(&list->items[i], "Sequence");
        const char *id = json_member_text(special ? special : text, "id");
        const JsonValue *segment = json_member(special ? special : text, "type_id");
        if (!id || (text && strcmp(id, texts ? "B" : "A") != 0))
            return false;
        if (text && texts++)
            pair->second = segment && segment->kind == JV_INTEGER ? segment->integer : 0;
        else if (special && !texts)
            n_before++;
        else if (special && texts == 1 && n_between < 2)
            between[n_between++] = id;
        else if (special && texts == 1)
            return false;
        else if (special && !n_after++)
            after = id;
    }
    pair->separators = n_between;
    for (int i = 0; i < n_between; i++)
        if (!after || strcmp(between[i], after) != 0)
            return false;
    return texts == 2 && n_before == 1 && n_after == 1 && n_between;
}

/* False: a post-processor of another form than the models have. */
static bool read_processor(const JsonValue *from, PairTemplate *pair)
{
    const char *type = json_member_text(from, "type");
    const JsonValue *list = json_member(from, "processors");
    if (type && !strcmp(type, "TemplateProcessing"))
        return read_pair(json_member(from, "pair"), pair);
    if (type && !strcmp(type, "RobertaProcessing"))
        *pair = (PairTemplate){2, 0};
    if (type && !strcmp(type, "BertProcessing"))
        *pair = (PairTemplate){1, 1};
    bool ok = true;
    for (size_t i = 0; ok && list && list->kind == JV_LIST && i < list->n; i++)
        ok = read_processor(&list->items[i], pair);
    return ok;
}

/* The template of the tokenizer.json; where there is none, that of the model_type. */
static bool find_template(Job *job, const PairsFolder *pairs, PairTemplate *pair)
{
    enum { LARGEST_TOKENIZER = 256 << 20 };
    const char *path = file_in(job->arena, pairs->folder, "tokenizer.json"), *problem;
    const bool is_roberta = strstr(pairs->model->type, "roberta") != NULL;
    *pair = (PairTemplate){is_roberta ? 2 : 1, !is_roberta};
    if (!file_is_named(path))
        return true;
    const Source *source = job_read(job, pairs->folder, path, LARGEST_TOKENIZER);
    const JsonValue *json =
        source ? json_read(job->arena, source->text, source->length, &problem) : NULL;
    return json && read_processor(json_member(json, "post_processor"), pair);
}

static bool put_template(Job *job, const PairsFolder *pairs, Text *out)
{
    PairTemplate pair;
    const JsonValue *size = json_member(pairs->json, "type_vocab_size");
    const bool has_segments = strcmp(pairs->model->type, "distilbert") != 0 &&
                              (!size || size->kind != JV_INTEGER || size->integer > 1);
    const bool is_read = find_template(job, pairs, &pair);
    if (!is_read || (has_segments && (pair.separators == 1) != (pair.second == 1)))
        return refuse_pairs_folder(
            job, pairs,
            "the template of pairs in tokenizer.json is of another form than those that are read: "
            "[CLS] A [SEP] B [SEP] with B as segment 1, and <s> A </s></s> B </s> with one segment");
    text_add(out, "const separators = %d\n", (int)pair.separators);
    return true;
}

bool import_pairs_model(Job *job, const PairsFolder *pairs, Text *out)
{
    bool found;
    return put_function(job, pairs, out) && put_template(job, pairs, out) &&
           import_sentences_longest(job, pairs->folder, "tokenizer_config.json", "model_max_length",
                                    &found, out);
}
