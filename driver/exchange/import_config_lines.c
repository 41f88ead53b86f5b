/* Lines of model.tfg and rules of the vocabulary, as config.json has them; see import_config.h. */
#include "driver/exchange/import_config.h"
#include "driver/exchange/import_json.h"
#include "driver/exchange/import_labels.h"
#include "driver/exchange/import_pairs.h"
#include "driver/exchange/import_sentences.h"
#include "runtime/data/token_rules.h"

#include <inttypes.h>
#include <string.h>

/* transformers' activations.py. Of several words for one function, the first is written. */
const ImportActivation import_activations[] = {{"relu", "relu(x)"},
                                               {"gelu", "gelu(x)"},
                                               {"gelu_python", "gelu(x)"},
                                               {"gelu_new", "gelu_tanh(x)"},
                                               {"gelu_pytorch_tanh", "gelu_tanh(x)"},
                                               {"gelu_fast", "gelu_tanh(x)"},
                                               {"gelu_accurate", "gelu_tanh(x)"},
                                               {"quick_gelu", "x * sigmoid(1.702 * x)"},
                                               {"silu", "silu(x)"},
                                               {"swish", "silu(x)"},
                                               {"tanh", "tanh(x)"},
                                               {NULL, NULL}};

static bool put_activation(Job *job, const ImportConfig *config, const ImportRow *row, Text *out)
{
    const JsonValue *value = import_config_value(job, config, row->key);
    for (const ImportActivation *is = import_activations; is->theirs; is++)
        if (value && value->kind == JV_STRING && !strcmp(value->text, is->theirs)) {
            text_add(out, "\nblock activation(x) { return %s }\n", is->ours);
            return true;
        }
    return import_config_refuse(
        job, config,
        arena_printf(job->arena, "\"%s\" is %s, which is not a function known here", row->key,
                     value ? import_json_text(job, value) : "absent"));
}

static bool put_const(Job *job, const ImportConfig *config, const ImportRow *row, Text *out)
{
    const JsonValue *value = import_config_value(job, config, row->key);
    if (value && value->kind == JV_NULL)
        return true; /* as the model has it */
    if (!value || value->kind == JV_LIST || value->kind == JV_OBJECT)
        return import_config_refuse(job, config,
                                    arena_printf(job->arena,
                                                 "\"%s\": expected a number, a truth "
                                                 "value or a string",
                                                 row->key));
    text_add(out, "const %s = %s%s\n", row->to, import_json_text(job, value),
             row->value ? row->value : "");
    return true;
}

static bool put_flag(Job *job, const ImportConfig *config, const ImportRow *row, Text *out)
{
    const JsonValue *value = import_config_value(job, config, row->key);
    bool is = value && import_json_is_same(job, value, import_json_parse(job, row->value));
    text_add(out, "const %s = %s\n", row->to, is ? "true" : "false");
    return true;
}

static bool put_labels(Job *job, const ImportConfig *config, const ImportRow *row, Text *out)
{
    TextList labels = {0};
    if (!import_labels_read(job, config->source, config->json, &labels))
        return false;
    text_add(out, "const %s = %zu\n", row->to, labels.count);
    return true;
}

/* A block, because no const is a list. */
static bool put_factors(Job *job, const ImportConfig *config, const ImportRow *row, Text *out)
{
    const JsonValue *list = import_config_value(job, config, row->key);
    if (!list || list->kind == JV_NULL)
        return true; /* as the model has it */
    text_add(out, "block %s(pairs) {\n  return concat([", row->to);
    for (size_t i = 0; i < list->n; i++) {
        text_string(out, i ? ", full([1], " : "full([1], ");
        text_number(out, list->items[i].number);
        text_string(out, ")");
    }
    text_string(out, "])\n}\n");
    return true;
}

/* Which factors are taken is settled for all texts: by the length of each, no text could be
 * continued, because what is kept of its tokens would change. */
static void put_longest(Job *job, const ImportConfig *config, Text *out)
{
    const JsonValue *type = import_config_value(job, config, "rope_parameters.rope_type");
    const int64_t most = import_config_size(job, config, "max_position_embeddings");
    const int64_t less =
        import_config_size(job, config, "rope_parameters.original_max_position_embeddings");
    if (!type || type->kind != JV_STRING || strcmp(type->text, "longrope") || less >= most)
        return;
    text_string(out, "const longest = rope_context\n");
    diag_remark(
        &job->diags, (Loc){.source = config->source},
        "\"longrope\" has factors for texts of up to %" PRId64 " tokens, which are taken, and "
        "others for longer texts: `const longest = %" PRId64 "` in model.tfg takes these, for "
        "all texts",
        less, most);
}

static void put_front(const ImportConfig *config, const ImportRow *row, Text *out)
{
    bool has = false;
    for (size_t i = 0; !has && i < config->tensors.count; i++)
        has = !strncmp(config->tensors.data[i], row->key, strlen(row->key));
    text_add(out, "const %s = \"%s\"\n", row->to, has ? row->key : "");
}

static bool put_piece(Job *job, const ImportConfig *config, const Vocabulary *vocab,
                      const ImportRow *row, Text *out)
{
    int32_t id = vocab_find(vocab, row->key);
    if (id < 0)
        return import_config_refuse(
            job, config,
            arena_printf(job->arena, "the vocabulary has no token '%s', which the model needs",
                         row->key));
    text_add(out, "const %s = %d\n", row->to, (int)id);
    return true;
}

static bool put_row(Job *job, const ImportConfig *config, const Vocabulary *vocab,
                    const ImportRow *row, Text *out)
{
    switch (row->kind) {
    case IMPORT_CONST: return put_const(job, config, row, out);
    case IMPORT_FLAG: return put_flag(job, config, row, out);
    case IMPORT_PIECE: return put_piece(job, config, vocab, row, out);
    case IMPORT_FIXED: text_add(out, "const %s = %s\n", row->to, row->key); return true;
    case IMPORT_LAYERS:
        text_add(out, "const %s = %" PRId64 "\n", row->to,
                 import_config_layers(job, config, row->key));
        return true;
    case IMPORT_FACTORS: return put_factors(job, config, row, out);
    case IMPORT_LABELS: return put_labels(job, config, row, out);
    case IMPORT_FRONT: put_front(config, row, out); return true;
    default: return true;
    }
}

bool import_config_model(Job *job, const char *folder, const ImportConfig *config,
                         const Vocabulary *vocab, Text *out)
{
    bool ok = true;
    for (const ImportRow *row = config->model->rows; row->key; row++)
        ok = put_row(job, config, vocab, row, out) && ok;
    put_longest(job, config, out);
    for (const ImportRow *row = config->model->rows; row->key; row++)
        if (row->kind == IMPORT_ACTIVATION)
            ok = put_activation(job, config, row, out) && ok;
    if (config->model->pairs)
        return ok &&
               import_pairs_model(
                   job, &(PairsFolder){folder, config->source, config->json, config->model}, out);
    const char *key;
    return ok && (config->model->gives != GIVES_VECTORS || !import_sentences_is(job, folder) ||
                  import_sentences_model(job, folder,
                                         import_config_const(job, config, "d_model", &key), out));
}

bool import_config_has_token(const Vocabulary *vocab, int64_t id)
{
    return id >= 0 && id < vocab_size(vocab);
}

/* Appends the row's rule; an id beyond the vocabulary, which the defaults of transformers' classes
 * leave in small models, is none, with a warning. False after an error, which names the file that
 * says the id. */
static bool put_token_rule(Job *job, const ImportConfig *config, const Vocabulary *vocab,
                           const ImportRow *row, TextList *tokens)
{
    const JsonValue *value = import_config_value(job, config, row->key);
    if (!value || value->kind == JV_NULL)
        return true;
    const PublishedToken *token = published_token(row->key);
    const bool is_id = value->kind == JV_INTEGER;
    const bool has = is_id && import_config_has_token(vocab, value->integer);
    const bool may_lack = is_id && !token->is_decoded; /* what is generated begins with others */
    if (has || may_lack)
        vec_push(job->arena, *tokens,
                 token_rule_text(job->arena, vocab, row->to, has ? (int32_t)value->integer : -1));
    if (has)
        return true;
    const char *file;
    const char *problem = arena_printf(
        job->arena, "\"%s\" is %s, but the vocabulary has %d tokens%s", row->key,
        import_json_text(job, value), (int)vocab_size(vocab), may_lack ? ": it names none" : "");
    import_config_token(job, config, token, &file);
    const bool is_config = strcmp(file, PUBLISHED_GENERATION) != 0;
    if (!is_config)
        problem = arena_printf(job->arena, "%s: %s", file, problem);
    const Loc loc = {.source = is_config ? config->source : NULL};
    if (may_lack)
        diag_warning(&job->diags, loc, "%s", problem);
    else
        diag_error(&job->diags, loc, "%s", problem);
    return may_lack;
}

bool import_config_tokens(Job *job, const ImportConfig *config, const Vocabulary *vocab,
                          TextList *tokens)
{
    for (const ImportRow *row = config->model->rows; row->key; row++)
        if (row->kind == IMPORT_TOKEN && !put_token_rule(job, config, vocab, row, tokens))
            return false;
    return true;
}

bool import_config_rows(Job *job, const ImportConfig *config, const Vocabulary *vocab,
                        TextList *tokens)
{
    const int64_t rows = import_config_size(job, config, "vocab_size");
    const int64_t size = vocab_size(vocab);
    if (rows < size) /* of Marian's pair, whose two sides have the same ids */
        return job_error(job,
                         "the vocabulary has %lld tokens, but config.json's vocab_size is %lld",
                         (long long)size, (long long)rows);
    if (rows > size)
        vec_push(job->arena, *tokens, arena_printf(job->arena, "size=%lld", (long long)rows));
    return true;
}
