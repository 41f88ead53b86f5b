/* What sentence-transformers' files say of pooling. */
#include "driver/exchange/import_sentences.h"

#include "base/file.h"
#include "driver/exchange/import_json.h"

#include <string.h>

static const char modules_file[] = SENTENCES_MODULES, word_width[] = "word_embedding_dimension";

const SentencesPooling sentences_poolings[] = {
    {"pooling_mode_cls_token", "cls", "cls"},
    {"pooling_mode_max_tokens", "max", "max"},
    {"pooling_mode_mean_tokens", "mean", "mean"},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", "mean_sqrt_len"},
    {"pooling_mode_weightedmean_tokens", "weightedmean", "weightedmean"},
    {"pooling_mode_lasttoken", "lasttoken", "lasttoken"},
    {NULL, NULL, NULL}};

bool import_sentences_is(Job *job, const char *folder)
{
    return file_exists(file_in(job->arena, folder, modules_file));
}

/* ---- pooling ---- */

/* Adds the model's word for a way of pooling, by a key or a word. */
static bool add_pooling(Job *job, const char *path, const char *said, ImportSentences *sentences)
{
    for (const SentencesPooling *pooling = sentences_poolings; pooling->key; pooling++)
        if (!strcmp(said, pooling->key) || !strcmp(said, pooling->word)) {
            vec_push(job->arena, sentences->poolings, pooling->ours);
            return true;
        }
    return job_error(job,
                     "%s/config.json: tokens are pooled by \"%s\": models/sentences.tfg knows cls, "
                     "max, mean, mean_sqrt_len_tokens, weightedmean and lasttoken",
                     path, text_visible_name(job->arena, said));
}

/* The keys that are true; of several the vectors stand one behind the other in the order of
 * sentences_poolings. */
static bool read_flags(Job *job, const char *path, const JsonValue *json,
                       ImportSentences *sentences)
{
    static const char front[] = "pooling_mode_";
    bool ok = true;
    for (size_t i = 0; ok && i < json->n; i++) {
        const char *key = json->keys[i];
        const JsonValue *is = NULL;
        bool known = false;
        if (strncmp(key, front, strlen(front)) != 0)
            continue;
        for (const SentencesPooling *pooling = sentences_poolings; pooling->key; pooling++)
            known = known || !strcmp(key, pooling->key);
        ok = import_json_member(job, file_in(job->arena, path, "config.json"), json, key, IS_FLAG,
                                &is) &&
             (known || !is || is->kind != JV_TRUE || add_pooling(job, path, key, sentences));
    }
    for (const SentencesPooling *pooling = sentences_poolings; ok && pooling->key; pooling++) {
        const JsonValue *is = json_member(json, pooling->key);
        if (is && is->kind == JV_TRUE)
            vec_push(job->arena, sentences->poolings, pooling->ours);
    }
    return ok;
}

/* "pooling_mode" of newer files, a word or a list of such; older ones have a flag for each. */
static bool find_poolings(Job *job, const char *path, const JsonValue *json,
                          ImportSentences *sentences)
{
    const JsonValue *words = json_member(json, "pooling_mode");
    const size_t n = !words ? 0 : words->kind == JV_LIST ? words->n : 1;
    bool ok = n || read_flags(job, path, json, sentences);
    for (size_t i = 0; ok && i < n; i++) {
        const JsonValue *word = words->kind == JV_LIST ? &words->items[i] : words;
        ok = word->kind == JV_STRING
                 ? add_pooling(job, path, word->text, sentences)
                 : job_error(job, "%s/config.json: \"pooling_mode\" is %s; expected a text", path,
                             import_json_text(job, word));
    }
    if (ok && !sentences->poolings.count)
        return job_error(job,
                         "%s/config.json: no pooling is named: expected \"pooling_mode\", or a "
                         "\"pooling_mode_…\" that is true",
                         path);
    return ok;
}

static bool read_pooling(Job *job, const char *folder, const char *module,
                         ImportSentences *sentences)
{
    const char *path = file_in(job->arena, folder, module);
    const JsonValue *json;
    if (!import_json_read(job, folder, file_in(job->arena, module, "config.json"), JV_OBJECT,
                          &json))
        return false;
    if (!json)
        return job_error(job, "%s has no config.json, which says how tokens are pooled", path);
    const JsonValue *prompt = json_member(json, "include_prompt"), *width;
    if (!import_json_member(job, file_in(job->arena, path, "config.json"), json, word_width,
                            IS_NUMBER, &width))
        return false;
    sentences->word_width = width ? width->integer : 0;
    sentences->leaves_prompt = prompt && prompt->kind == JV_FALSE;
    return find_poolings(job, path, json, sentences);
}

/* ---- layers ---- */

/* The functions of layers, by the last word of their names in PyTorch. */
typedef struct LayerFunction {
    const char *theirs, *ours;
} LayerFunction;
static const LayerFunction functions[] = {
    {"Identity", "%s"},   {"Tanh", "tanh(%s)"},       {"ReLU", "relu(%s)"}, {"GELU", "gelu(%s)"},
    {"SiLU", "silu(%s)"}, {"Sigmoid", "sigmoid(%s)"}, {NULL, NULL},
};

static const char *find_layer_function(Job *job, const char *path, const JsonValue *json)
{
    const JsonValue *value;
    if (!import_json_member(job, path, json, "activation_function", IS_TEXT, &value))
        return NULL;
    const char *name = value ? value->text : "torch.nn.modules.activation.Tanh",
               *dot = strrchr(name, '.');
    for (const LayerFunction *is = functions; is->theirs; is++)
        if (!strncmp(name, "torch.nn.", strlen("torch.nn.")) && !strcmp(dot + 1, is->theirs))
            return is->ours;
    job_error(job,
              "%s: \"activation_function\" is %s: layers behind the pooling are read with "
              "torch.nn's Identity, Tanh, ReLU, GELU, SiLU and Sigmoid",
              path, text_visible_name(job->arena, name));
    return NULL;
}

/* Settings by which a layer computes something else. */
static bool check_layer(Job *job, const char *path, const JsonValue *json)
{
    static const char input[] = "module_input_name", output[] = "module_output_name",
                      vector[] = "sentence_embedding";
    const char *from = json_member_text(json, input), *to = json_member_text(json, output);
    const JsonValue *residual = json_member(json, "use_residual");
    const char *problem = from && strcmp(from, vector) != 0       ? input
                          : to && strcmp(to, vector) != 0         ? output
                          : residual && residual->kind == JV_TRUE ? "use_residual"
                                                                  : NULL;
    return !problem ||
           job_error(job, "%s: \"%s\" is %s, which models/sentences.tfg does not do", path, problem,
                     from && problem == input  ? from
                     : to && problem == output ? to
                                               : "true");
}

/* Whether the layer takes what the one before it gives, `before` numbers; 0: it is the first, or
 * that is not said. */
static bool check_input(Job *job, const char *path, const JsonValue *json, int64_t before,
                        ImportSentences *sentences)
{
    const JsonValue *input;
    if (!import_json_member(job, path, json, "in_features", IS_NUMBER, &input))
        return false;
    if (!sentences->n_layers)
        sentences->layer_input = input ? input->integer : 0;
    return !input || !before || input->integer == before ||
           job_error(job, "%s: \"in_features\" is %s, and the layer before it gives %lld numbers",
                     path, import_json_text(job, input), (long long)before);
}

/* Appends a layer's line, and its lines of the weights block. *before: what the layer before it
 * gives, then what this one does. */
static bool read_layer(Job *job, const char *folder, const char *module, ImportSentences *sentences,
                       int64_t *before, Text *lines, Text *weights)
{
    const char *name = file_in(job->arena, module, "config.json"),
               *path = file_in(job->arena, folder, name);
    const JsonValue *json, *width, *bias;
    if (!import_json_read(job, folder, name, JV_OBJECT, &json))
        return false;
    if (!json)
        return job_error(job, "%s is missing, which says what the layer is", path);
    const char *function = find_layer_function(job, path, json);
    if (!function || !check_layer(job, path, json) ||
        !check_input(job, path, json, *before, sentences) ||
        !import_json_member(job, path, json, "out_features", IS_NUMBER, &width) ||
        !import_json_member(job, path, json, "bias", IS_FLAG, &bias))
        return false;
    if (!width || width->kind != JV_INTEGER || width->integer < 1 || width->integer > INT32_MAX)
        return job_error(job, "%s: \"out_features\": expected the width of what the layer gives",
                         path);
    *before = width->integer;
    const bool has_bias = !bias || bias->kind == JV_TRUE;
    const int n = ++sentences->n_layers;
    const char *call = arena_printf(job->arena, "linear as dense_%d(v, %lld%s)", n,
                                    (long long)width->integer, has_bias ? "" : ", false");
    const char *hole = strchr(function, '%');
    text_add(lines, "  v = %.*s%s%s\n", (int)(hole - function), function, call, hole + 2);
    text_add(weights, "  head.dense_%d.weight = transpose(", n);
    text_quote(weights, arena_printf(job->arena, "%s/linear.weight", module));
    text_string(weights, ")\n");
    if (has_bias) {
        text_add(weights, "  head.dense_%d.bias = ", n);
        text_quote(weights, arena_printf(job->arena, "%s/linear.bias", module));
        text_string(weights, "\n");
    }
    return true;
}

/* ---- modules ---- */

static bool refuse_module(Job *job, const char *folder, size_t i, const char *kind)
{
    return job_error(
        job,
        "%s/%s: module %zu is '%s': those that are read are Transformer, then Pooling, "
        "then any of Dense, Normalize and Dropout",
        folder, modules_file, i, text_visible_name(job->arena, kind));
}

/* What follows the pooling. A Normalize that is the last module is the const. */
static bool read_finish(Job *job, const char *folder, const FolderModules *modules,
                        ImportSentences *sentences)
{
    Text lines = {0}, weights = {0};
    bool ok = true;
    int64_t before = 0;
    size_t end = modules->count;
    sentences->is_normalised = end > 2 && !strcmp(modules->data[end - 1].kind, "Normalize");
    for (size_t i = 2; ok && i < end - sentences->is_normalised; i++) {
        const FolderModule *module = &modules->data[i];
        if (!strcmp(module->kind, "Dense") && *module->path)
            ok = read_layer(job, folder, module->path, sentences, &before, &lines, &weights);
        else if (!strcmp(module->kind, "Normalize"))
            text_string(&lines, "  v = unit(v)\n");
        else if (strcmp(module->kind, "Dropout") != 0) /* of trainings alone */
            ok = refuse_module(job, folder, i, module->kind);
    }
    if (ok && lines.length)
        sentences->finish = arena_printf(
            job->arena,
            "block finished(v) {\n%s  if normalised { v = unit(v) }\n  return v\n}\n%s%s%s",
            lines.data, weights.length ? "weights {\n" : "", weights.length ? weights.data : "",
            weights.length ? "}\n" : "");
    text_free(&lines);
    text_free(&weights);
    return ok;
}

/* The encoder, pooling, and what follows. */
static bool read_modules(Job *job, const char *folder, const FolderModules *modules,
                         ImportSentences *sentences)
{
    static const char *const order[] = {"Transformer", "Pooling"};
    for (size_t i = 0; i < 2; i++) {
        if (i == modules->count)
            return job_error(job, "%s/%s: there is no module %s", folder, modules_file, order[i]);
        if (strcmp(modules->data[i].kind, order[i]) != 0)
            return refuse_module(job, folder, i, modules->data[i].kind);
    }
    if (*modules->data[0].path)
        return job_error(job,
                         "%s/%s: the encoder is in the folder %s: import that one, and set "
                         "pooling and normalised in the run's model.tfg",
                         folder, modules_file, modules->data[0].path);
    return read_pooling(job, folder, modules->data[1].path, sentences) &&
           read_finish(job, folder, modules, sentences);
}

bool import_sentences_longest(Job *job, const char *folder, const char *file, const char *key,
                              bool *found, Text *out)
{
    const JsonValue *json;
    if (!import_json_read(job, folder, file, JV_OBJECT, &json))
        return false;
    const JsonValue *length;
    if (!import_json_member(job, file_in(job->arena, folder, file), json, key, IS_NUMBER, &length))
        return false;
    *found = length && length->number < INT32_MAX;
    if (!*found)
        return true;
    if (length->kind != JV_INTEGER || length->integer < 1)
        return job_error(job, "%s/%s: \"%s\": expected a number of tokens", folder, file, key);
    text_add(out, "const longest = minimum(context - first_position, %lld)\n",
             (long long)length->integer);
    return true;
}

/* The first of the files that sentence_transformers/models/Transformer.py looks for; that of all if
 * there is none. */
const char *import_sentences_texts(Job *job, const char *folder)
{
    static const char *const names[] = {SENTENCES_TEXTS,
                                        "sentence_roberta_config.json",
                                        "sentence_distilbert_config.json",
                                        "sentence_camembert_config.json",
                                        "sentence_albert_config.json",
                                        "sentence_xlm-roberta_config.json",
                                        "sentence_xlnet_config.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (file_exists(file_in(job->arena, folder, names[i])))
            return names[i];
    return SENTENCES_TEXTS;
}

/* The longest text; and what is done to texts before the tokenizer. */
static bool read_texts(Job *job, const char *folder, Text *out)
{
    const char *file = import_sentences_texts(job, folder);
    const JsonValue *json;
    bool found;
    if (!import_json_read(job, folder, file, JV_OBJECT, &json))
        return false;
    const JsonValue *lower;
    if (!import_json_member(job, file_in(job->arena, folder, file), json, "do_lower_case", IS_FLAG,
                            &lower))
        return false;
    if (lower && lower->kind == JV_TRUE)
        diag_warning(&job->diags, (Loc){0},
                     "%s/%s: \"do_lower_case\" is true: capitals become small there before the "
                     "tokenizer; if yours keeps them, write texts in small letters",
                     folder, file);
    return import_sentences_longest(job, folder, file, SENTENCES_LONGEST, &found, out) &&
           (found || import_sentences_longest(job, folder, "tokenizer_config.json",
                                              "model_max_length", &found, out));
}

bool import_sentences_read(Job *job, const char *folder, ImportSentences *sentences)
{
    FolderModules modules;
    *sentences = (ImportSentences){0};
    if (!import_sentences_is(job, folder)) {
        vec_push(job->arena, sentences->poolings, "mean");
        return true;
    }
    return modules_read(&job->diags, job->arena, job_reach(job, folder), folder, &modules) &&
           read_modules(job, folder, &modules, sentences);
}

/* Several ways of pooling are a block; one is a const. */
static void put_poolings(const ImportSentences *sentences, Text *out)
{
    const size_t n = sentences->poolings.count;
    if (n == 1) {
        text_add(out, "const pooling = \"%s\"\n", sentences->poolings.data[0]);
        return;
    }
    text_string(out, "block pooled(x) { return concat([");
    for (size_t i = 0; i < n; i++)
        text_add(out, "%spool(x, \"%s\")", i ? ", " : "", sentences->poolings.data[i]);
    text_string(out, "], -1) }\n");
}

/* What the modules say of the width that the encoder has. */
static bool check_widths(Job *job, const char *folder, const ImportSentences *sentences,
                         int64_t width)
{
    const long long pooled = width * (int64_t)sentences->poolings.count;
    if (sentences->word_width && sentences->word_width != width)
        diag_warning(&job->diags, (Loc){0},
                     "%s: the pooling's \"%s\" is %lld, and the model's vectors have %lld numbers, "
                     "which are taken",
                     folder, word_width, (long long)sentences->word_width, (long long)width);
    return !sentences->layer_input || sentences->layer_input == pooled ||
           job_error(job,
                     "%s: \"in_features\" of the first Dense is %lld, and the pooling gives %lld "
                     "numbers",
                     folder, (long long)sentences->layer_input, pooled);
}

bool import_sentences_model(Job *job, const char *folder, int64_t width, Text *out)
{
    ImportSentences sentences;
    if (!import_sentences_read(job, folder, &sentences) ||
        !check_widths(job, folder, &sentences, width))
        return false;
    put_poolings(&sentences, out);
    text_add(out, "const normalised = %s\n", sentences.is_normalised ? "true" : "false");
    if (!read_texts(job, folder, out))
        return false;
    if (sentences.finish)
        text_string(out, sentences.finish);
    return true;
}
