/* A model as WebAssembly with JavaScript around it: a folder in the layout of a published package
 * (--emit js), or a page that is one file (--emit html). The templates lie in script/. */
#define _GNU_SOURCE
#include "driver/compile/artifact.h"

#include "base/file.h"
#include "base/fill.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "base/temporary.h"
#include "driver/run/new_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

extern const char script_core_js[], script_package_js[], script_package_ts[], script_package_md[];
extern const char script_answers_ts[], script_predictions_ts[];
extern const char script_translate_js[], script_translate_ts[], script_translate_md[];
extern const char script_records_js[], script_records_ts[], script_records_md[];
extern const char script_generate_js[], script_generate_ts[], script_generate_md[];
extern const char script_attention_js[], script_attention_css[], script_attention_ts[],
    script_attention_md[];
extern const char script_predict_js[], script_predict_ts[], script_predict_md[];
extern const char script_page_html[], script_page_css[], script_page_js[];

enum { LARGEST_MODULE = 1 << 30 };

static bool generates(const Artifact *a) { return !artifact_encodes(a); }

static bool predicts_alone(const Artifact *a) { return !a->names[TFC_DECODE_STEP]; }

/* The part of a template that tells of attention, where the module has it. */
static const char *attending(const Artifact *a, const char *part)
{
    return a->names[TFC_ALIGNMENT] ? part : "";
}

static bool check(const Artifact *a)
{
    if (!a->vocab || !a->weights)
        return job_error(
            a->job,
            "--emit %s needs weights and a vocabulary: the folder of a run, or --weights and --vocab",
            a->emit);
    return a->has_text ||
           job_error(a->job,
                     "--emit %s: the model neither translates nor continues a text, and predicts "
                     "nothing of one",
                     a->emit);
}

/* Writes the template's file into the folder. */
static bool write_filled(const Artifact *a, const char *name, const char *template,
                         const FillPart *parts, size_t n)
{
    Text text = {0};
    fill_template(template, parts, n, &text);
    bool ok = file_write_own(&a->job->diags, file_in(a->job->arena, a->output, name), text.data,
                             text.length);
    text_free(&text);
    return ok;
}

/* What answers are, and what requests may set (runtime/model/script.c). */
static const char *answer_types(const Artifact *a)
{
    const char *types = "";
    Text out = {0};
    for (int i = 0; i < SETTINGS; i++) {
        char range[RANGE_TEXT];
        setting_range(&setting_rows[i], range);
        types = arena_printf(a->job->arena, "%s  /** %s: %s */\n  %s?: %s;\n", types,
                             setting_help(i)->text, range, setting_rows[i].name,
                             setting_rows[i].kind == SETTING_FLAG ? "0 | 1" : "number");
    }
    fill_template(script_answers_ts, &(FillPart){"settings", types}, 1, &out);
    return text_keep(a->job->arena, &out);
}

/* What a package has of each sort of model. */
typedef struct PackageParts {
    const char *methods, *types, *example, *answers;
} PackageParts;

/* Whether an input has one value a record. */
static bool is_single(const Artifact *a, int32_t i)
{
    const TfcPort *port = &a->programs[TFC_ENCODE]->inputs[i];
    return port->shape.rank == 1;
}

/* The methods, and behind them the members of a record. */
static const char *record_types(const Artifact *a)
{
    const TfcProgram *encode = a->programs[TFC_ENCODE];
    const char *types = arena_printf(a->job->arena,
                                     "%s}\n\n/** Numbers, nested as one likes. */\n"
                                     "export type Numbers = ArrayLike<number> | Numbers[];\n\n"
                                     "/** What a text is generated from. */\n"
                                     "export interface Fields {\n",
                                     script_records_ts);
    for (int32_t i = 0; i < encode->n_inputs; i++) {
        Text name = {0};
        text_quote(&name, encode->inputs[i].name);
        types = arena_printf(a->job->arena, "%s  %s: %s;\n", types, name.data,
                             !column_has_numbers(&a->read[i]) ? "string"
                             : is_single(a, i)                ? "number"
                                                              : "Numbers");
        text_free(&name);
    }
    return types;
}

static PackageParts package_parts(const Artifact *a)
{
    if (a->read)
        return (PackageParts){script_records_js, record_types(a), script_records_md,
                              answer_types(a)};
    if (predicts_alone(a))
        return (PackageParts){script_predict_js, script_predict_ts, script_predict_md,
                              script_predictions_ts};
    if (generates(a))
        return (PackageParts){script_generate_js, script_generate_ts, script_generate_md,
                              answer_types(a)};
    return (PackageParts){script_translate_js, script_translate_ts, script_translate_md,
                          answer_types(a)};
}

static bool write_package(const Artifact *a)
{
    const PackageParts own = package_parts(a);
    const FillPart parts[] = {
        {"core", script_core_js},
        {"methods", own.methods},
        {"answers", own.answers},
        {"types", own.types},
        {"example",
         arena_printf(a->job->arena, "%s%s", own.example, attending(a, script_attention_md))},
        {"attention_types", attending(a, script_attention_ts)},
        {"title", arena_printf(a->job->arena, "# %s", a->name)},
        {"import", arena_printf(a->job->arena, "import {load} from \"%s\"", a->name)}};
    enum { PARTS = sizeof parts / sizeof parts[0] };
    Text package = {0};
    JsonWriter json = {.out = &package, .indent = 2};
    json_open(&json, NULL, '{');
    json_put_text(&json, "name", a->name);
    json_put_text(&json, "version", "1.0.0");
    json_put_text(&json, "description", "A model compiled by tfc to WebAssembly");
    json_put_text(&json, "type", "module");
    json_put_text(&json, "main", "index.js");
    json_put_text(&json, "types", "index.d.ts");
    json_open(&json, "files", '[');
    json_put_text(&json, NULL, "index.js");
    json_put_text(&json, NULL, "index.d.ts");
    json_put_text(&json, NULL, "model.wasm");
    json_close(&json, ']');
    json_close(&json, '}');
    text_string(&package, "\n");
    bool ok = file_write_own(&a->job->diags, file_in(a->job->arena, a->output, "package.json"),
                             package.data, package.length) &&
              write_filled(a, "index.js", script_package_js, parts, PARTS) &&
              write_filled(a, "index.d.ts", script_package_ts, parts, PARTS) &&
              write_filled(a, "README.md", script_package_md, parts, PARTS);
    text_free(&package);
    return ok;
}

/* ---- the page ---- */

/* Whether a list of words is one of letters, so that a reader's words have to be taken apart: of
 * single ones, or, where sources share it with sounds such as "th", half of it and no token longer
 * than three; *lower: no letter is a capital. */
static bool is_of_letters(const Vocabulary *vocab, bool *lower)
{
    enum { LONGEST = 3 };
    const TokenRules *rules = vocab_rules(vocab);
    int64_t tokens = 0, single = 0;
    size_t longest = 0;
    *lower = true;
    for (int32_t i = 0; vocab_is_words(vocab) && i < vocab_size(vocab); i++) {
        const char *token = vocab_token(vocab, i);
        if (i == rules->pad || i == rules->unk || i == rules->begin || i == rules->end || !*token)
            continue;
        size_t letters = text_letters(token);
        longest = letters > longest ? letters : longest;
        tokens++;
        single += letters == 1;
        *lower = *lower && !(letters == 1 && *token >= 'A' && *token <= 'Z');
    }
    return single && longest <= LONGEST && 2 * single >= tokens;
}

/* The fields of a record, for the page's form: labels, or a text, or how many numbers. */
static void put_fields(const Artifact *a, JsonWriter *json)
{
    const TfcProgram *encode = a->programs[TFC_ENCODE];
    json_open(json, "fields", '[');
    for (int32_t i = 0; a->read && i < encode->n_inputs; i++) {
        const TfcColumn *column = &a->read[i];
        const TfcPort *port = &encode->inputs[i];
        const bool is_ragged = port->shape.rank > 1 && port->shape.dims[1].dim >= 0;
        int64_t width = 1;
        for (int axis = is_ragged ? 2 : 1; axis < port->shape.rank; axis++)
            width *= port->shape.dims[axis].size;
        json_open(json, NULL, '{');
        json_put_text(json, "name", port->name);
        json_put_bool(json, "list", is_ragged);
        if (column_has_numbers(column))
            json_put_integer(json, "width", width);
        if (column->row.labels) {
            json_open(json, "labels", '[');
            for (int64_t k = 0; k < column->row.n_labels; k++)
                json_put_text(json, NULL, column->row.labels[k]);
            json_close(json, ']');
        }
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_about(const Artifact *a, Text *out)
{
    bool lower, letters = is_of_letters(vocab_source(a->vocab), &lower);
    JsonWriter json = {.out = out, .in_page = true};
    text_string(out, "<script type=\"application/json\" id=\"about\">");
    json_open(&json, NULL, '{');
    json_put_text(&json, "title", a->name);
    json_put_bool(&json, "letters", letters);
    json_put_bool(&json, "lower", lower);
    json_put_bool(&json, "generates", generates(a) && !predicts_alone(a));
    json_put_bool(&json, "predicts", predicts_alone(a));
    json_put_bool(&json, "attends", a->names[TFC_ALIGNMENT] != NULL);
    put_fields(a, &json);
    json_open(&json, "predictions", '{'); /* whether they are classes, and lists of positions */
    for (int i = 0; i < a->predictor.n; i++) {
        const Prediction *p = &a->predictor.all[i];
        json_open(&json, p->name, '{');
        json_put_bool(&json, "classes", p->classes || p->is_ctc);
        json_put_bool(&json, "set", p->thresholds != NULL);
        json_put_bool(&json, "positions", p->side >= 0 && !p->is_ctc);
        json_close(&json, '}');
    }
    json_close(&json, '}');
    json_close(&json, '}');
    text_string(out, "</script>\n");
}

/* The bytes compressed as gzip's (RFC 1952), which browsers take apart themselves; NULL after an
 * error. */
static unsigned char *compress_module(const Artifact *a, const Source *bytes, size_t *size)
{
    enum { GZIP = 16, MEMORY = 8 };
    z_stream z = {0};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP, MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        job_no_memory(a->job);
        return NULL;
    }
    *size = deflateBound(&z, bytes->length);
    unsigned char *out = arena_alloc(a->job->arena, *size);
    z.next_in = (unsigned char *)(uintptr_t)bytes->text; /* zlib only reads it */
    z.avail_in = (unsigned)bytes->length;
    z.next_out = out;
    z.avail_out = (unsigned)*size;
    deflate(&z, Z_FINISH); /* all: deflateBound's bytes are enough */
    *size = z.total_out;
    deflateEnd(&z);
    return out;
}

static bool write_page(const Artifact *a, const char *module)
{
    const Source *bytes = file_read(&a->job->diags, a->job->arena, module, LARGEST_MODULE);
    size_t size = 0;
    const unsigned char *packed = bytes ? compress_module(a, bytes, &size) : NULL;
    if (!packed)
        return false;
    Text data = {0}, page = {0};
    put_about(a, &data);
    text_string(&data, "<script type=\"application/gzip;base64\" id=\"module\">");
    text_base64(&data, packed, size);
    text_string(&data, "</script>");
    const FillPart parts[] = {{"title", a->name},
                              {"css", script_page_css},
                              {"attention_css", attending(a, script_attention_css)},
                              {"data", data.data},
                              {"core", script_core_js},
                              {"attention_js", attending(a, script_attention_js)},
                              {"js", script_page_js}};
    fill_template(script_page_html, parts, sizeof parts / sizeof parts[0], &page);
    bool ok = file_write_all(&a->job->diags, a->output, page.data, page.length);
    text_free(&data);
    text_free(&page);
    return ok;
}

static bool make_page(const Artifact *a, const char *header)
{
    char *folder;
    if (!temporary_folder(a->output, 0700, &folder))
        return diag_errno(&a->job->diags, "write", a->output, errno), false;
    Artifact module = *a;
    module.output = file_in(a->job->arena, folder, "model.wasm");
    bool ok = compile_link(&module, header) && write_page(a, module.output);
    file_remove_tree(folder);
    free(folder);
    return ok;
}

static bool fill_package(const Artifact *a, const char *header, const char *folder)
{
    Artifact package = *a, module = *a;
    package.output = folder;
    module.output = file_in(a->job->arena, folder, "model.wasm");
    return compile_link(&module, header) && write_package(&package);
}

static bool make_package(const Artifact *a, const char *header)
{
    NewFolder new;
    if (!new_folder_is_free(
            a->output)) /* of an earlier package, whose files are replaced one by one */
        return fill_package(a, header, a->output);
    return new_folder_begin(a->job, a->output, &new) &&
           new_folder_end(&new, fill_package(a, header, new.made));
}

bool compile_script(const Artifact *a, const char *header)
{
    return check(a) && (a->makes == ARTIFACT_HTML ? make_page : make_package)(a, header);
}
