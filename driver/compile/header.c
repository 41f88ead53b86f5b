/* The header of a compiled model: what is exported (interface.c), and the structs that say
 * what each function takes and gives. */
#include "driver/compile/artifact.h"

#include "base/limits.h"
#include "base/map.h"
#include "driver/values/packing.h"
#include "runtime/exec/size.h"

#include <inttypes.h>
#include <string.h>

const char *artifact_text(const Artifact *artifact, const char *text)
{
    Text out = {0};
    for (const char *p = text; *p; p++)
        if (*p == '@')
            text_add(&out, "%s", artifact->name);
        else
            text_put(&out, p, 1);
    return text_keep(artifact->job->arena, &out);
}

static void put_named(const Artifact *a, Text *out, const char *text)
{
    text_string(out, artifact_text(a, text));
}

/* ---- what functions take and give ---- */

/* The runtime reads these structs as fields of eight bytes (TfcWord). */
static const char *pointer_alignment(const Artifact *a)
{
    return a->target->is_wasm || artifact_is_c(a) ? " __attribute__((aligned(8)))" : "";
}

static void put_shape(const TfcProgram *program, const TfcPort *port, Text *out)
{
    text_add(out, "[");
    for (int i = 0; i < port->shape.rank; i++) {
        int32_t dim = port->shape.dims[i].dim;
        const char *comma = i ? ", " : "";
        if (dim < 0)
            text_add(out, "%s%" PRId64, comma, port->shape.dims[i].size);
        else
            text_add(out, "%s%s%s", comma, program->dims[dim].name,
                     program->dims[dim].batch >= 0 ? "~" : "");
    }
    text_add(out, "]");
}

/* Which ids the input may hold. */
static void put_ids(const Artifact *a, const TfcPort *port, Text *out)
{
    const Module *module = a->session.model->module;
    FOR_OPS (op, &module_function(module, "model")->body) {
        if (op->kind != OP_input || port->type != TFC_I32 ||
            strcmp(op_string(op, ATTR_name), port->name))
            continue;
        const IdRanges ranges = ports_ids(module, op);
        for (int64_t i = 0; i < ranges.n; i++) {
            char text[ID_RANGE_TEXT];
            const IdRange *range = &ranges.at[i];
            text_add(out, "; %s", id_range_text(range, text));
            if (!id_range_is_whole(range))
                text_add(out, " in elements %" PRId64 " to %" PRId64 " of each %" PRId64,
                         range->from, range->to - 1, range->period);
        }
    }
}

static void put_port(const Artifact *a, const TfcProgram *program, const TfcPort *port, bool input,
                     Text *out)
{
    const char *name = artifact_c_name(a->job->arena, port->name);
    if (port->shape.rank == 0) {
        text_add(out, "    double %s;\n", name);
        return;
    }
    text_add(out, "    const %s *%s%s; /* ", element_info(port->type)->c, name,
             pointer_alignment(a));
    put_shape(program, port, out);
    if (input)
        put_ids(a, port, out);
    if (input && a->ports.next && !strcmp(port->name, a->ports.next) && a->rules.end >= 0)
        text_add(out, "; NULL: %s moved by one, ended by %" PRId32, a->ports.target, a->rules.end);
    text_add(out, " */\n");
}

/* What a caller does not give: how long a dimension made of others is. */
static void put_made_dim(const Artifact *a, const TfcProgram *program, int32_t d, Text *out)
{
    const TfcProgramDim *dim = &program->dims[d];
    const char *marked = dim->batch >= 0 ? "~" : "";
    text_add(out, "/* %s%s = %s%s */\n", dim->name, marked, made_text(a->job->arena, program, d),
             dim->formula.divisor > 1 ? ", rounded down" : "");
}

static void put_structs(const Artifact *a, TfcFunction f, Text *out)
{
    const TfcProgram *program = a->programs[f];
    const char *name = a->names[f];
    for (int32_t d = program->n_given; d < program->n_dims; d++)
        put_made_dim(a, program, d, out);
    text_add(out, "typedef struct %s_%s_in {\n", a->name, name);
    if (f == TFC_TRAIN_STEP)
        text_add(
            out,
            "    uint64_t seed; /* of dropout; the step's number is counted by the model */\n");
    for (int32_t d = 0; d < program->n_given; d++) {
        const char *dim = artifact_c_name(a->job->arena, program->dims[d].name);
        if (program->dims[d].batch < 0)
            text_add(out, "    int64_t %s;\n", dim);
        else
            text_add(out, "    const int32_t *%s_lengths%s; /* of each of the %s rows */\n", dim,
                     pointer_alignment(a), program->dims[program->dims[d].batch].name);
    }
    for (int32_t i = 0; i < program->n_inputs; i++)
        if (f != TFC_TRAIN_STEP || strcmp(program->inputs[i].name, "step"))
            put_port(a, program, &program->inputs[i], true, out);
    text_add(out, "} %s_%s_in;\n%s", a->name, name, artifact_gives_tensors(f) ? "" : "\n");
    if (!artifact_gives_tensors(f))
        return;
    text_add(out, "typedef struct %s_%s_out {\n", a->name, name);
    for (int32_t i = 0; i < program->n_outputs; i++)
        put_port(a, program, &program->outputs[i], false, out);
    text_add(out, "} %s_%s_out;\n\n", a->name, name);
}

/* A label for a comment, which it does not end: as a terminal is shown it, on one line. */
static void put_label_name(const char *label, Text *out)
{
    Text shown = {0};
    text_visible_cut(&shown, label, strlen(label));
    for (size_t i = 0; i < shown.length; i++) {
        const char c = shown.data[i];
        text_put(out, c == '/' || c == '\n' || c == '\t' ? " " : &c, 1);
    }
    text_free(&shown);
}

/* The labels of an input, for a comment. */
static void put_label_names(const TfcColumn *column, Text *out)
{
    enum { MOST_SHOWN = 4 };
    for (int64_t i = 0; i < column->row.n_labels && i < MOST_SHOWN; i++) {
        text_string(out, i ? ", " : ": ");
        put_label_name(column->row.labels[i], out);
    }
    if (column->row.n_labels > MOST_SHOWN)
        text_add(out, ", … (%" PRId64 ")", column->row.n_labels);
}

/* What records hold: the fields of encode_in, with texts and names of labels in place of ids. */
static void put_records(const Artifact *a, Text *out)
{
    const TfcProgram *encode = a->programs[TFC_ENCODE];
    Arena *arena = a->job->arena;
    put_named(
        a, out,
        "/* Records, from each of which a text is generated: as @_encode_in, with texts of UTF-8,\n"
        " * each ended by a NUL, in place of ids. */\n"
        "typedef struct @_records {\n");
    for (int32_t d = 0; d < encode->n_given; d++) {
        const char *dim = artifact_c_name(arena, encode->dims[d].name);
        if (encode->dims[d].batch < 0)
            text_add(out, "    int64_t %s; /* how many records */\n", dim);
        else if (records_say_lengths(encode, a->read, d))
            text_add(out, "    const int32_t *%s_lengths%s; /* of each record */\n", dim,
                     pointer_alignment(a));
    }
    for (int32_t i = 0; i < encode->n_inputs; i++) {
        const TfcPort *port = &encode->inputs[i];
        if (column_has_numbers(&a->read[i])) {
            put_port(a, encode, port, true, out);
            continue;
        }
        text_add(out, "    const char *const *%s%s; /* [%s], ", artifact_c_name(arena, port->name),
                 pointer_alignment(a), encode->dims[port->shape.dims[0].dim].name);
        text_string(out, a->read[i].row.kind == COLUMN_TEXT ? "texts"
                         : port->shape.rank > 1             ? "labels with blanks between"
                                                            : "labels");
        put_label_names(&a->read[i], out);
        text_string(out, " */\n");
    }
    put_named(a, out, "} @_records;\n\n");
}

#define C_NAME(type) C_NAME_OF(type)
#define C_NAME_OF(type) #type

const GenerationField generation_fields[] = {
#define SETTING(kind, name, initial, least, most, option, value, help) \
    {C_NAME(SETTING_TYPE_##kind), #name, 0, help, least, most, #kind},
#define TOKEN(name, help) {"int32_t", #name, 0, help, 0, 0, "TOKEN"},
#define TOKENS(name, n, help) {"int32_t", #name, n, help, 0, 0, "TOKENS"},
#define INPUT(type, name, help) {#type, #name, 0, help, 0, 0, "INPUT"},
#include "runtime/decode/settings.def"
};
const int generation_field_count = sizeof generation_fields / sizeof generation_fields[0];

static void put_generation(const Artifact *a, Text *out)
{
    text_add(out,
             "/* Numbers outside of what is said here are errors, NaN among them. */\n"
             "typedef struct %s_generation {\n",
             a->name);
    for (int i = 0; i < generation_field_count; i++) {
        const GenerationField *f = &generation_fields[i];
        text_add(out, "    %s%s%s", f->type, text_ends(f->type, "*") ? "" : " ", f->name);
        text_add(out, f->n ? "[%d];" : ";", f->n);
        text_add(out, " /* %s", artifact_text(a, f->help));
        text_add(out, isfinite(f->most) && f->most > 0 ? "; %.10g to %.10g */\n" : " */\n",
                 f->least, f->most);
    }
    put_named(a, out, "} @_generation;\n\n");
}

/* ---- parameters ---- */

static void put_tensor(const TfcTensor *tensor, Text *out)
{
    text_add(out, " *   %-40s %s [", tensor->name, element_info(tensor->type)->c);
    for (int i = 0; i < tensor->shape.rank; i++)
        text_add(out, "%s%" PRId64, i ? ", " : "", tensor->shape.dims[i].size);
    text_add(out, "]\n");
}

static void put_parameters(const Artifact *a, Text *out)
{
    Arena *arena = arena_new();
    Map seen;
    map_init(&seen, arena);
    text_add(out, "/* The parameters, as weights files name them:\n");
    for (int f = 0; f < TFC_N_FUNCTIONS; f++)
        for (int32_t i = 0; a->names[f] && i < a->programs[f]->n_tensors; i++) {
            const TfcTensor *tensor = &a->programs[f]->tensors[i];
            if (tensor->role == TFC_SLOT || tensor->role == TFC_GRADIENT ||
                tensor_is_cache(tensor) || map_has(&seen, tensor->name))
                continue;
            map_set(&seen, tensor->name, out);
            put_tensor(tensor, out);
        }
    text_add(out, " */\n");
    arena_free(arena);
}

/* ---- the whole ---- */

static const struct StatusRow {
    const char *name, *help;
} statuses[] = {
#define API_STATUS(name, text, help) {#name, help},
#include "runtime/model/statuses.def"
};

static void put_opening(const Artifact *a, Text *out)
{
    text_add(out, "/* %s, compiled by tfc. Token ids in, tensors out%s.\n", a->name,
             artifact_takes_records(a)   ? "; or records in, text out"
             : !a->has_text || a->read   ? ""
             : a->names[TFC_DECODE_STEP] ? "; or text in, text out"
                                         : "; or text in, values out");
    if (a->n_members)
        text_add(
            out,
            " *\n * %d models are inside: probabilities are the mean of theirs. The parameters that functions give\n"
            " * are the first one's; %s_open takes no file, and nothing is saved.\n",
            a->n_members + 1, a->name);
    put_named(
        a, out,
        " *\n"
        " * Functions that can fail give 0 or a status below. A model may be shared by threads; a\n"
        " * session belongs to one thread at a time: one of its own (@_session_new), or one that it\n"
        " * takes from the model's pool and gives back (@_session_take). What functions return belongs to the model or\n"
        " * session; inputs are the caller's and only read during the call. After an error all is\n"
        " * as it was before the call, unless the function says otherwise, and the same call may\n"
        " * succeed later; a pointer to a model or session that was not opened is NULL.\n"
        " *\n"
        " * Every call can give @_ERROR_ARGUMENT, where an argument is not what is said to be\n"
        " * allowed: a pointer that is NULL, unless NULL is allowed or it is to nothing (n = 0); a\n"
        " * model or session that is closed, or whose model is; a number out of its range; an id\n"
        " * that the input does not hold. Every call that takes memory can give @_ERROR_MEMORY:\n"
        " * nothing here ends the process.\n"
        " * A call on a session that is in another call gives @_ERROR_BUSY.\n"
        " *\n"
        " * Dimensions and lengths are 0 or more and below 2^31, the lengths of a dimension together,\n"
        " * too; scalars are finite, truth values 0 or 1.\n"
        " *\n"
        " * A shape [B, S~, 4] is ragged in S: row b has S_lengths[b] positions, and the rows lie\n"
        " * one after the other without padding. */\n");
    text_add(
        out,
        "#ifndef TFC_MODEL_%s_H\n#define TFC_MODEL_%s_H\n\n#include <stdint.h>\n\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
        "#ifndef TFC_API\n#define TFC_API __attribute__((visibility(\"default\")))\n#endif\n\n",
        a->name, a->name);
    put_named(a, out,
              "typedef struct @ @; /* parameters */\n"
              "typedef struct @_session @_session;\n\n"
              "enum {\n");
    for (int i = 0; i < TFC_N_STATUS; i++) {
        text_add(out, "    %s_%s = %d,", a->name, statuses[i].name, i);
        text_add(out, statuses[i].help ? " /* %s */\n" : "\n", statuses[i].help);
    }
    text_string(out, "};\n");
    text_add(out, "enum { %s_MOST_THREADS = %d, %s_MOST_BEAM = %d, %s_MOST_NBEST = %d };\n",
             a->name, LIMIT_threads, a->name, (int)setting_rows[SETTING_beam].most, a->name,
             (int)setting_rows[SETTING_nbest].most);
    const TokenRules *rules = &a->rules;
    text_add(out,
             "enum { %s_VOCABULARY = %" PRId64 ", %s_BOS = %" PRId32 ", %s_EOS = %" PRId32
             ", %s_PAD = %" PRId32 ", %s_UNK = %" PRId32 " }; /* -1: not known */\n\n",
             a->name, a->ports.vocab, a->name, rules->begin, a->name, rules->end, a->name,
             rules->pad, a->name, rules->unk);
    put_parameters(a, out);
}

void compile_header(Artifact *a, Text *out)
{
    put_opening(a, out);
    for (int f = 0; f < TFC_N_FUNCTIONS; f++)
        if (a->names[f] && artifact_takes_tensors(a, (TfcFunction)f))
            put_structs(a, (TfcFunction)f, out);
    if (artifact_takes_records(a))
        put_records(a, out);
    if (a->names[TFC_DECODE_STEP])
        put_generation(a, out);
    interface_put_records(a, false, out);
    interface_put_calls(a, CALLS_DECLARED, out);
    text_add(out, "\n");
    a->version = hash_bytes(hash_u64(HASH_SEED, TFC_MODEL_ABI), out->data, out->length) >> 1;
    text_add(out, "#define %s_HEADER INT64_C(0x%016" PRIx64 ")\n", a->name, a->version);
    interface_put_calls(a, CALLS_OPENING, out);
    text_add(out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
