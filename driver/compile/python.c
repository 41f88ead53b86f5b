/* NAME.py beside a library: what is this model's own, before what every such file has
 * (model_arguments.py, model.py). */
#include "driver/compile/artifact.h"

#include "base/file.h"

#include <inttypes.h>
#include <string.h>

/* Made from driver/compile/model_arguments.py and model.py by cmake/embed.cmake. */
extern const char model_py[];

/* numpy's name of an element type. */
static const char *numpy_type(TfcType type)
{
    switch (type) {
    case TFC_F32: return "f4";
    case TFC_F64: return "f8";
    case TFC_BF16: return "u2";
    case TFC_I32: return "i4";
    case TFC_BOOL: return "?";
    }
    return "u1";
}

static void put_ports(const Artifact *a, const TfcProgram *program, const TfcPort *ports, int32_t n,
                      bool of_step, Text *out)
{
    text_add(out, "[");
    for (int32_t i = 0; i < n; i++) {
        const TfcPort *port = &ports[i];
        if (of_step && !strcmp(port->name, "step"))
            continue;
        text_add(out, "(\"%s\", \"%s\", (", artifact_c_name(a->job->arena, port->name),
                 numpy_type(port->type));
        for (int axis = 0; axis < port->shape.rank; axis++) {
            int32_t dim = port->shape.dims[axis].dim;
            if (dim < 0)
                text_add(out, "%" PRId64 ", ", port->shape.dims[axis].size);
            else
                text_add(out, "\"%s\", ", program->dims[dim].name);
        }
        text_add(out, ")), ");
    }
    text_add(out, "]");
}

/* A dimension made of others: ragged over, plus, divisor, times of each, range of the last, as
 * _Call.make of model.py has them. */
static void put_made_dim(const TfcProgram *program, int32_t d, Text *out)
{
    const TfcProgramDim *dim = &program->dims[d];
    const DimFormula *formula = &dim->formula;
    text_add(out, dim->batch < 0 ? "\"%s\": (None, " : "\"%s\": (\"%s\", ", dim->name,
             dim->batch < 0 ? "" : program->dims[dim->batch].name);
    text_add(out, "%" PRId32 ", %" PRId32 ", {", formula->plus, formula->divisor);
    for (int32_t i = 0; i < formula->n; i++)
        text_add(out, "%s\"%s\": %" PRId32, i ? ", " : "",
                 program->dims[formula->terms[i].symbol].name, formula->terms[i].times);
    text_add(out, "}, %" PRId32 ", %" PRId32 "), ", formula->least, formula->most);
}

static void put_function(const Artifact *a, TfcFunction f, Text *out)
{
    const TfcProgram *program = a->programs[f];
    text_add(out, "    \"%s\": ({", a->names[f]);
    for (int32_t d = 0; d < program->n_given; d++) {
        int32_t batch = program->dims[d].batch;
        text_add(out, batch < 0 ? "\"%s\": None, " : "\"%s\": \"%s\", ", program->dims[d].name,
                 batch < 0 ? "" : program->dims[batch].name);
    }
    for (int32_t d = program->n_given; d < program->n_dims; d++)
        put_made_dim(program, d, out);
    text_add(out, "},\n        ");
    put_ports(a, program, program->inputs, program->n_inputs, f == TFC_TRAIN_STEP, out);
    text_add(out, ",\n        ");
    put_ports(a, program, program->outputs, program->n_outputs, false, out);
    text_add(out, "),\n");
}

/* As Python, too, reads a string of bytes beyond control characters. */
static const char *quoted(Arena *arena, const char *text)
{
    Text out = {0};
    text_quote(&out, text);
    return text_keep(arena, &out);
}

/* What records have in place of the ids of texts and labels, and the dimensions that they say. */
static void put_records(const Artifact *a, Text *out)
{
    const TfcProgram *encode = a->programs[TFC_ENCODE];
    const bool takes = artifact_takes_records(a);
    text_add(out,
             "# of records: the inputs whose values are texts, and the dimensions that are given\n"
             "_RECORD_TEXTS = {");
    for (int32_t i = 0; takes && i < encode->n_inputs; i++)
        if (!column_has_numbers(&a->read[i]))
            text_add(out, "\"%s\", ", artifact_c_name(a->job->arena, encode->inputs[i].name));
    text_add(out, "\"\"}\n_RECORD_DIMS = {");
    for (int32_t d = 0; takes && d < encode->n_given; d++)
        if (encode->dims[d].batch < 0 || records_say_lengths(encode, a->read, d))
            text_add(out, "\"%s\", ", encode->dims[d].name);
    text_add(out, "\"\"}\n");
}

void compile_python(const Artifact *a, Text *out)
{
    const char *members =
        !a->n_members
            ? ""
            : arena_printf(a->job->arena,
                           " It is the mean of %d models,\nwhich have no other weights than "
                           "those inside.",
                           a->n_members + 1);
    const char *next = a->ports.next ? artifact_c_name(a->job->arena, a->ports.next) : "";
    text_add(out,
             "\"\"\"%s, compiled by tfc; %s.h tells more of each call.%s\n\n"
             "    import %s\n"
             "    model = %s.Model()\n\"\"\"\n\n",
             a->name, a->name, members, a->name, a->name);
    text_string(out, "import ctypes\n"
                     "from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_int32, "
                     "c_int64, c_uint64, c_void_p\n\n");
    text_add(out,
             "_NAME, _LIBRARY, _HEADER = \"%s\", %s, 0x%016" PRIx64 "\n"
             "VOCABULARY, BOS, EOS, PAD, UNK = %" PRId64 ", %" PRId32 ", %" PRId32 ", %" PRId32
             ", %" PRId32 "  # -1: not known\n",
             a->name, quoted(a->job->arena, file_name(a->output)), a->version, a->ports.vocab,
             a->rules.begin, a->rules.end, a->rules.pad, a->rules.unk);
    text_add(out, "_TYPES = (");
    for (int type = TFC_F32; type <= TFC_BOOL; type++)
        text_add(out, "\"%s\", ", numpy_type((TfcType)type));
    text_add(out, ")\n_GENERATION = [");
    for (int i = 0; a->names[TFC_DECODE_STEP] && i < generation_field_count; i++)
        text_add(out, "%s(\"%s\", \"%s\", %d, \"%s\")", i ? ", " : "", generation_fields[i].name,
                 interface_ctype(a->job->arena, generation_fields[i].type), generation_fields[i].n,
                 generation_fields[i].takes);
    text_add(out,
             "]\n_NEXT = \"%s\"\n"
             "# of each: dimensions and what they are ragged over, inputs, outputs\n"
             "_FUNCTIONS = {\n",
             next);
    for (int f = 0; f < TFC_N_FUNCTIONS; f++)
        if (a->names[f] && artifact_takes_tensors(a, (TfcFunction)f))
            put_function(a, (TfcFunction)f, out);
    text_add(out, "}\n");
    put_records(a, out);
    text_add(out,
             "_ERROR_VERSION, _ERROR_ARGUMENT = %d, %d\n"
             "# of each call: what it returns, and what it takes\n"
             "_CALLS = {\n",
             TFC_ERROR_VERSION, TFC_ERROR_ARGUMENT);
    interface_put_calls(a, CALLS_IN_PYTHON, out);
    text_string(out, "}\n");
    interface_put_records(a, true, out);
    text_add(out, "%s", model_py);
}
