/* The C that joins programs, runtime and header: the model's constant (runtime/model/abi.h) and a
 * function for each export, which goes on to the runtime's. It includes the header it defines. Of a
 * library it is a file of its own, which includes the runtime's headers, of a model as C the end of
 * the one file, in which the runtime came before. */
#include "driver/compile/artifact.h"

#include "base/element.h"
#include "base/file.h"
#include "driver/ports/ports.h"
#include "runtime/text/hf/char_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WEIGHT_ALIGN = 64 };

static const char *c_string(Arena *arena, const char *text)
{
    if (!text)
        return "0";
    Text out = {0};
    text_quote(&out, text);
    return text_keep(arena, &out);
}

/* As it is. */
static bool is_inside(const Artifact *a, const StoreTensor *tensor)
{
    return store_is_param(tensor) && tensor->data && !artifact_as_panels(a, tensor);
}

static int64_t padded(int64_t bytes)
{
    return (bytes + WEIGHT_ALIGN - 1) / WEIGHT_ALIGN * WEIGHT_ALIGN;
}

static int64_t tensor_bytes(const StoreTensor *tensor)
{
    return tensor->count * element_info(tensor->type)->bytes;
}

/* The stores whose weights are inside: none, one, or an ensemble's. */
static int n_stores(const Artifact *a) { return a->weights ? 1 + a->n_members : 0; }

static Store *store_of(const Artifact *a, int i)
{
    return i ? a->members[i - 1].store : a->weights;
}

static const char *weights_name(const Artifact *a, int i)
{
    return i ? arena_printf(a->job->arena, "weights_%d", i) : "weights";
}

static void write_padded(FileWriter *file, const void *bytes, int64_t n)
{
    static const char zeros[WEIGHT_ALIGN];
    file_write(file, bytes, (size_t)n);
    file_write(file, zeros, (size_t)(padded(n) - n));
}

static void write_panels(const Artifact *a, Store *weights, FileWriter *file)
{
    for (size_t i = 0; i < a->panels.count; i++) {
        const TfcPanels *panels = &a->panels.data[i];
        void *bytes = memory_resized(NULL, (size_t)panels_bytes(panels));
        panels_write(panels, store_find(weights, panels->name)->data, bytes);
        write_padded(file, bytes, panels_bytes(panels));
        free(bytes);
    }
}

/* First params as they are, then panels. */
static bool write_weights(const Artifact *a, Store *weights, const char *path)
{
    FileWriter *file = file_create(&a->job->diags, path);
    if (!file)
        return false;
    for (int64_t i = 0; i < store_count(weights); i++) {
        const StoreTensor *tensor = store_at(weights, i);
        if (is_inside(a, tensor))
            write_padded(file, tensor->data, tensor_bytes(tensor));
    }
    write_panels(a, weights, file);
    return file_commit(file, &a->job->diags);
}

#define SHORTLIST_BLOB "shortlist"

static int64_t shortlist_bytes(const Shortlist *s)
{
    return ((int64_t)s->n_sources + 1 + s->start[s->n_sources]) * (int64_t)sizeof *s->ids;
}

static bool write_shortlist(const Artifact *a, const Shortlist *s, const char *path)
{
    FileWriter *file = file_create(&a->job->diags, path);
    if (!file)
        return false;
    file_write(file, s->start, ((size_t)s->n_sources + 1) * sizeof *s->start);
    file_write(file, s->ids, (size_t)s->start[s->n_sources] * sizeof *s->ids);
    return file_commit(file, &a->job->diags);
}

static int64_t weights_size(const Artifact *a, Store *weights)
{
    int64_t size = 0;
    for (int64_t i = 0; i < store_count(weights); i++)
        if (is_inside(a, store_at(weights, i)))
            size += padded(tensor_bytes(store_at(weights, i)));
    for (size_t i = 0; i < a->panels.count; i++)
        size += padded(panels_bytes(&a->panels.data[i]));
    return size;
}

/* A vocabulary inside, and what its bytes are called. */
typedef struct InsideVocabulary {
    const Vocabulary *vocab;
    const char *name;
} InsideVocabulary;
enum { MOST_INSIDE = 2 + MOST_COLUMNS };

/* Those of the sides, *sides of them, 0, 1 or 2; then those that columns have of their own. How
 * many. */
static int inside_vocabularies(const Artifact *a, InsideVocabulary all[MOST_INSIDE], int *sides)
{
    int n = 0;
    if (a->has_text)
        all[n++] = (InsideVocabulary){a->vocab, "vocabulary"};
    if (a->has_text && vocab_source(a->vocab) != a->vocab)
        all[n++] = (InsideVocabulary){vocab_source(a->vocab), "source_vocabulary"};
    *sides = n;
    for (int i = 0; a->read && i < a->programs[TFC_ENCODE]->n_inputs; i++) {
        const Vocabulary *own = compile_own_vocabulary(a, i);
        if (own)
            all[n++] = (InsideVocabulary){own, arena_printf(a->job->arena, "own_vocabulary_%d", i)};
    }
    return n;
}

/* The bytes of a vocabulary inside: its file, before which a portable tokenizer.json has the table
 * of characters. text_free frees them. */
static void side_bytes(const Artifact *a, const Vocabulary *side, Text *out)
{
    size_t size;
    const char *bytes = vocab_bytes(side, &size);
    if (a->is_portable && vocab_kind(side) == VOCAB_JSON) {
        TokenText table = {0};
        memory_need(char_table_make(&table));
        text_put(out, table.data, table.length);
        token_text_free(&table);
    }
    text_put(out, bytes, size);
}

static const char *blob_file(const Artifact *a, const char *name)
{
    return artifact_is_c(a) ? arena_printf(a->job->arena, "%s.%s.bin", file_name(a->output), name)
                            : arena_printf(a->job->arena, "%s.bin", name);
}

bool compile_blobs(const Artifact *a, NewFile *path_of, void *context)
{
    InsideVocabulary all[MOST_INSIDE];
    int sides;
    const int n = inside_vocabularies(a, all, &sides);
    bool ok = true;
    for (int i = 0; ok && i < n_stores(a); i++)
        ok = write_weights(a, store_of(a, i), path_of(context, blob_file(a, weights_name(a, i))));
    for (int i = 0; ok && i < n; i++) {
        Text bytes = {0};
        side_bytes(a, all[i].vocab, &bytes);
        ok = file_write_all(&a->job->diags, path_of(context, blob_file(a, all[i].name)), bytes.data,
                            bytes.length);
        text_free(&bytes);
    }
    return ok && (!a->shortlist ||
                  write_shortlist(a, a->shortlist, path_of(context, blob_file(a, SHORTLIST_BLOB))));
}

/* A file of bytes as the symbol NAME_X_inside; of a model as C it lies beside the C file.
 * WebAssembly's assembler wants other flags of a section, and no return to where it was. */
static void put_blob(const Artifact *a, const char *name, int align, int64_t size, Text *out)
{
    const char *symbol = arena_printf(a->job->arena, "%s_%s_inside", a->name, name);
    const char *file = artifact_is_c(a) ? arena_printf(a->job->arena, "\" __FILE__ \".%s.bin", name)
                                        : blob_file(a, name);
    text_add(out,
             "__asm__(\n"
             "#if defined(__wasm__)\n"
             "    \".section .rodata.tfc_%s,\\\"\\\",@\\n\"\n"
             "#else\n"
             "    \".pushsection .rodata.tfc_%s,\\\"a\\\"\\n\"\n"
             "#endif\n"
             "    \".balign %d\\n.globl %s\\n.hidden %s\\n.type %s,@object\\n%s:\\n\"\n"
             "    \".incbin \\\"%s\\\"\\n.size %s,%" PRId64 "\\n\"\n"
             "#if !defined(__wasm__)\n"
             "    \".popsection\\n\"\n"
             "#endif\n"
             ");\n"
             "extern __attribute__((visibility(\"hidden\"))) const char %s[];\n",
             name, name, align, symbol, symbol, symbol, symbol, file, symbol, size, symbol);
}

static void put_panels(const Artifact *a, const char *name, int64_t at, Text *out)
{
    if (!a->panels.count)
        return;
    text_add(out, "static const TfcPanels %s_panels[] = {\n", name);
    for (size_t i = 0; i < a->panels.count; i++) {
        const TfcPanels *p = &a->panels.data[i];
        text_add(out,
                 "    {%s, %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                 ", {%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "}, %s_%s_inside + %" PRId64
                 "},\n",
                 c_string(a->job->arena, p->name), p->product, p->matrices, p->k, p->n,
                 p->is_transposed, p->layout.columns, p->layout.joined, p->layout.kept,
                 p->layout.whole, a->name, name, at);
        at += padded(panels_bytes(p));
    }
    text_add(out, "};\n");
}

/* The weights of one model, as arrays of this name; how many are as they are. */
static int put_weights(const Artifact *a, Store *weights, const char *name, Text *out)
{
    int n = 0;
    int64_t at = 0;
    put_blob(a, name, 4096, weights_size(a, weights), out);
    text_add(out, "static const TfcWeight %s[] = {\n", name);
    for (int64_t i = 0; i < store_count(weights); i++) {
        const StoreTensor *tensor = store_at(weights, i);
        if (!is_inside(a, tensor))
            continue;
        text_add(out, "    {%s, %s_%s_inside + %" PRId64 "},\n",
                 c_string(a->job->arena, tensor->name), a->name, name, at);
        at += padded(tensor_bytes(tensor));
        n++;
    }
    text_add(out, "    {0, 0}\n};\n");
    put_panels(a, name, at, out);
    return n;
}

/* The weights of all models. */
static void put_members(const Artifact *a, Text *out)
{
    int n[MAX_MEMBERS];
    if (!n_stores(a))
        return;
    for (int i = 0; i < n_stores(a); i++)
        n[i] = put_weights(a, store_of(a, i), weights_name(a, i), out);
    text_add(out, "static const TfcMember members[] = {");
    for (int i = 0; i < n_stores(a); i++)
        text_add(out, "{%d, %s, %zu, %s%s}, ", n[i], weights_name(a, i), a->panels.count,
                 a->panels.count ? weights_name(a, i) : "0", a->panels.count ? "_panels" : "");
    text_add(out, "};\n");
}

static void put_variants(const Artifact *a, Text *out)
{
    for (int c = 0; !artifact_is_c(a) && c < a->n_cpus; c++)
        for (int p = 0; p < a->cpus[c].objects.n_programs; p++)
            text_add(out, "extern HIDDEN const TfcProgram %s;\n", a->cpus[c].objects.symbols[p]);
    text_add(out, "static const TfcVariant variants[] = {\n");
    for (int c = 0; c < a->n_cpus; c++) {
        int p = 0;
        text_add(out, "    {%d, {", a->cpus[c].level);
        for (int f = 0; f < TFC_N_FUNCTIONS; f++)
            text_add(out, a->names[f] ? "&%s, " : "%s, ",
                     a->names[f] ? a->cpus[c].objects.symbols[p++] : "0");
        text_add(out, "}},\n");
    }
    text_add(out, "};\n");
}

/* The ranges of ids that the header has in its comments; how many. */
void compile_put_range(const IdRange *range, Text *out)
{
    text_add(out, "{%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "}",
             range->least, range->below, range->period, range->from, range->to, range->labels);
}

static int put_ids(const Artifact *a, Text *out)
{
    const Module *module = a->session.model->module;
    int n = 0;
    text_add(out, "static const TfcIds ids[] = {\n");
    FOR_OPS (op, &module_function(module, "model")->body) {
        if (op->kind != OP_input || op_result(op)->type.dtype != DT_I32)
            continue;
        const IdRanges ranges = ports_ids(module, op);
        for (int64_t i = 0; i < ranges.n; i++, n++) {
            text_add(out, "    {%s, ", c_string(a->job->arena, op_string(op, ATTR_name)));
            compile_put_range(&ranges.at[i], out);
            text_string(out, "},\n");
        }
    }
    text_add(out, "    {0, {0, 0, 0, 0, 0, 0}}\n};\n");
    return n;
}

/* The dimensions along which the model has tables of positions, with the lengths that they allow;
 * how many. */
static int put_lengths(const Artifact *a, Text *out)
{
    const Module *module = a->session.model->module;
    int n = 0;
    text_add(out, "static const TfcLength lengths[] = {\n");
    for (size_t i = 0; i < module->symbols.count; i++) {
        const char *name = module->symbols.data[i].name;
        int64_t length = position_table(module, name).length;
        if (length) {
            text_add(out, "    {%s, %" PRId64 "},\n", c_string(a->job->arena, name), length);
            n++;
        }
    }
    text_add(out, "    {0, 0}\n};\n");
    return n;
}

static const char *const openers[] = {[VOCAB_WORDS] = "tokenizer_words",
                                      [VOCAB_SENTENCEPIECE] = "tokenizer_sentencepiece",
                                      [VOCAB_JSON] = "tokenizer_json_inside"};

static const char *opener(const Artifact *a, const Vocabulary *side)
{
    const VocabKind kind = vocab_kind(side);
    return a->is_portable && kind == VOCAB_JSON ? "tokenizer_json_portable" : openers[kind];
}

static void put_opened(const Artifact *a, const InsideVocabulary *v, int64_t size, Text *out)
{
    text_add(out, "{%s, %s_%s_inside, %" PRId64 "}", opener(a, v->vocab), a->name, v->name, size);
}

/* Vocabularies inside, and what is known of text. Only the tokenizers of their kinds are linked. */
static void put_text(const Artifact *a, Text *out)
{
    InsideVocabulary all[MOST_INSIDE];
    int64_t sizes[MOST_INSIDE];
    int sides;
    const int n = inside_vocabularies(a, all, &sides);
    if (!n)
        return;
    for (int i = 0; i < n; i++) {
        Text bytes = {0};
        side_bytes(a, all[i].vocab, &bytes);
        sizes[i] = (int64_t)bytes.length;
        text_free(&bytes);
        put_blob(a, all[i].name, 16, sizes[i], out);
    }
    for (int i = sides; i < n; i++) {
        text_add(out, "static const TfcVocabulary %s = ", all[i].name);
        put_opened(a, &all[i], sizes[i], out);
        text_string(out, ";\n");
    }
    text_string(out, "static const TfcText text_constant = {");
    for (int i = 0; i < sides; i++) {
        put_opened(a, &all[i], sizes[i], out);
        text_string(out, ", ");
    }
    const TextFrame frame = corpus_source_frame(a->vocab, CORPUS_PAIRS);
    text_string(out, sides == 1 ? "{0, 0, 0}, " : "");
    compile_put_frame(&frame, out);
    text_string(out, "};\n\n");
}

/* The table of candidates: where each source's begin, then all. */
static void put_shortlist(const Artifact *a, Text *out)
{
    const Shortlist *s = a->shortlist;
    if (!s)
        return;
    put_blob(a, SHORTLIST_BLOB, WEIGHT_ALIGN, shortlist_bytes(s), out);
    text_add(out,
             "static const Shortlist shortlist_constant = {%" PRId32 ", %" PRId32 ", %" PRId32
             ", (const int *)%s_" SHORTLIST_BLOB "_inside, (const int *)%s_" SHORTLIST_BLOB
             "_inside + %" PRId32 ", %s, &shortlist_calls, 0};\n\n",
             s->n_sources, s->n_targets, s->first, a->name, a->name, s->n_sources + 1,
             c_string(a->job->arena, s->input));
}

static void put_ints(const int32_t *values, int n, Text *out)
{
    text_string(out, "{");
    for (int i = 0; i < n; i++)
        text_add(out, "%s%" PRId32, i ? ", " : "", values[i]);
    text_string(out, "}");
}

static void put_rule(const TextRule *rule, Text *out)
{
    text_add(out, "{%" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId32 ", ", rule->begin,
             rule->end, rule->newline, rule->start, rule->n_stops);
    put_ints(rule->stops, TEXT_STOPS, out);
    text_string(out, ", ");
    put_ints(rule->forbidden, TEXT_FORBIDDEN, out);
    text_string(out, "}");
}

static void put_defaults(const Artifact *a, Text *out)
{
    text_string(out, "static const DecodeDefault defaults_constant[] = {\n");
    for (size_t i = 0; i < a->defaults.count; i++) {
        const DecodeDefault *d = &a->defaults.data[i];
        text_add(out, "    {%s, %.17g},\n", c_string(a->job->arena, d->name), d->value);
    }
    text_string(out, "    {0, 0}\n};\n");
}

static void put_model(const Artifact *a, int n_ids, int n_lengths, int n_columns, Text *out)
{
    Arena *arena = a->job->arena;
    const ModelPorts *ports = &a->ports;
    text_add(
        out,
        "static const TfcModel model_constant = {%d, %s_HEADER, %s, %d, variants, %d, %s, %s, %s, %s, %s, %" PRId64
        ", %" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId64
        ", %d, ids, %d, lengths, %s, ",
        TFC_MODEL_ABI, a->name, c_string(arena, a->name), a->n_cpus, n_stores(a),
        n_stores(a) ? "members" : "0", c_string(arena, ports->source),
        c_string(arena, ports->target), c_string(arena, ports->next),
        c_string(arena, ports->logits), ports->vocab, a->rules.begin, a->rules.end, a->rules.pad,
        a->rules.unk, a->rules.first, session_max_length(&a->session), n_ids, n_lengths,
        a->has_text ? "&text_constant" : "0");
    put_rule(&a->rules.text, out);
    text_add(out, ", %s, %s, %d, %s, %zu, defaults_constant};\n\n",
             a->shortlist ? "&shortlist_constant" : "0",
             a->names[TFC_PREDICT] ? "&predictions_constant" : "0", n_columns,
             n_columns ? "columns_constant" : "0", a->defaults.count);
}

/* What is a symbol of other objects, and not of the file that is linked. */
static const char hidden[] = "#define HIDDEN __attribute__((visibility(\"hidden\")))\n";

/* What a file of its own knows of the runtime, whose folder the compiler is given. */
static const char runtime_headers[] = "#include \"runtime/decode/decode_shortlist.h\"\n"
                                      "#include \"runtime/model/program.h\"\n"
                                      "#include \"runtime/model/script.h\"\n"
                                      "#include \"runtime/text/hf/tokenizer_json.h\"\n";

/* What a program, and what a module for JavaScript, begins with. */
static void put_entry(const Artifact *a, Text *out)
{
    if (a->makes == ARTIFACT_EXE)
        text_add(out,
                 "int main(int argc, char **argv)\n"
                 "{\n    return tfc_model_main(&model_constant, &program_%s, argc, argv);\n}\n",
                 a->names[TFC_DECODE_STEP] ? "generates" : "predicts");
    if (artifact_is_script(a))
        text_add(
            out,
            "__attribute__((export_name(\"answer\"))) const char *answer(const char *request, int length)\n"
            "{\n    return tfc_model_script(&model_constant, request, length);\n}\n");
}

void compile_glue(const Artifact *a, Text *out)
{
    if (!artifact_is_joined(a))
        text_string(out, runtime_headers);
    text_add(out, "#include \"%s.h\"\n", a->name);
    if (!artifact_is_c(a))
        text_string(out, hidden);
    put_members(a, out);
    put_variants(a, out);
    int n_ids = put_ids(a, out), n_lengths = put_lengths(a, out);
    put_text(a, out);
    put_shortlist(a, out);
    compile_put_predictions(a, out);
    const int n_columns = compile_put_columns(a, out);
    put_defaults(a, out);
    put_model(a, n_ids, n_lengths, n_columns, out);
    interface_put_calls(a, CALLS_DEFINED, out);
    put_entry(a, out);
}
