/* The interface of a compiled library, as runtime/model/interface.def declares it: which rows an
 * artifact has, and their text in C and in Python. */
#include "driver/compile/artifact.h"

#include <string.h>

/* A type of the runtime, and what stands behind NAME for it. */
static const struct InterfaceType {
    const char *type, *suffix;
} interface_types[] = {
#define API_HANDLE(type, suffix) {#type, suffix},
#define API_WORDS API_HANDLE
#define API_KNOWN API_HANDLE
#define API_RECORD(when, type, suffix, help) {#type, suffix},
#define API_FIELD(...)
#define API_BYTES(...)
#define API_ARRAY(...)
#define API_END(...)
#include "runtime/model/interface.def"
};
enum { TYPES = sizeof interface_types / sizeof interface_types[0] };

/* A record's head, a field of it, or its end. */
typedef enum FieldKind { RECORD_HEAD, RECORD_FIELD, RECORD_BYTES, RECORD_TAIL } FieldKind;
static const struct InterfaceField {
    FieldKind kind;
    const char *type, *name;
    int n;    /* length of an array; 0: the field is no array */
    int when; /* of a head */
    const char *help;
} interface_fields[] = {
#define API_RECORD(when, type, suffix, help) {RECORD_HEAD, #type, "", 0, when, help},
#define API_FIELD(type, name, help) {RECORD_FIELD, #type, #name, 0, 0, help},
#define API_BYTES(name, help) {RECORD_BYTES, "const char *", #name, 0, 0, help},
#define API_ARRAY(type, name, n, help) {RECORD_FIELD, #type, #name, n, 0, help},
#define API_END(type) {RECORD_TAIL, #type, "", 0, 0, NULL},
#include "runtime/model/interface.def"
};
enum { FIELDS = sizeof interface_fields / sizeof interface_fields[0] };

typedef struct InterfaceCall {
    int when;
    const char *result, *name, *arguments, *help;
} InterfaceCall;
static const InterfaceCall interface_calls[] = {
#define API_CALL(when, result, name, arguments, help) {when, #result, #name, #arguments, help},
#include "runtime/model/interface.def"
};
enum { CALLS = sizeof interface_calls / sizeof interface_calls[0] };

/* ---- what is inside ---- */

/* Whether CTC makes labels of a prediction. */
static bool artifact_searches(const Artifact *artifact)
{
    for (int i = 0; i < artifact->predictor.n; i++)
        if (artifact->predictor.all[i].is_ctc)
            return true;
    return false;
}

bool artifact_encodes(const Artifact *artifact)
{
    const Function *encode = artifact->functions[TFC_ENCODE];
    for (const Op *op = encode ? encode->body.first : NULL; op; op = op->next)
        if (op->kind == OP_input)
            return true;
    return false;
}

bool artifact_takes_records(const Artifact *artifact)
{
    return artifact->has_text && artifact->read && !artifact->records_lack;
}

bool interface_has(const Artifact *artifact, int when)
{
    TfcColumn input;
    bool decodes = artifact->names[TFC_DECODE_STEP], encodes = artifact_encodes(artifact),
         reads = artifact->read != NULL;
    switch (when) {
    case ALWAYS: return true;
    case DECODES_ALONE: return decodes && !encodes;
    case HAS_TEXT: return artifact->has_text;
    case TRANSLATES_TEXT: return artifact->has_text && encodes && !reads;
    case TRANSLATES_COLUMNS: return artifact_takes_records(artifact);
    case TRANSLATES:
        return interface_has(artifact, TRANSLATES_TEXT) ||
               interface_has(artifact, TRANSLATES_COLUMNS);
    case GENERATES_TEXT: return artifact->has_text && decodes && !encodes;
    case PREDICTS_TEXT: return artifact->has_text && compile_text_input(artifact, &input);
    case SEARCHES_LABELS:
        return artifact->has_text && compile_text_input(artifact, &input) &&
               artifact_searches(artifact);
    case STEPS: return decodes && !artifact->shortlist;
    case STEPS_ENCODED: return encodes && !reads && !artifact->shortlist;
    case STEPS_COLUMNS: return reads && !artifact->shortlist;
    case GENERATES: return decodes && !reads;
    case GENERATES_COLUMNS: return reads;
    default: return artifact->names[when];
    }
}

/* ---- types ---- */

/* The row whose type these n characters are; NULL: none. */
static const struct InterfaceType *find_type(const char *word, size_t n)
{
    for (int i = 0; i < TYPES; i++)
        if (strlen(interface_types[i].type) == n && !strncmp(interface_types[i].type, word, n))
            return &interface_types[i];
    return NULL;
}

static size_t word_length(const char *text)
{
    return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
}

/* A type as callers know it. */
static void put_type(const Artifact *a, const char *type, Text *out)
{
    for (size_t n; *type; type += n) {
        n = word_length(type);
        const struct InterfaceType *found = find_type(type, n);
        n += !n;
        if (found)
            text_add(out, "%s%s", a->name, found->suffix);
        else
            text_put(out, type, n);
    }
}

static void put_declared(const Artifact *a, const char *type, const char *name, Text *out)
{
    put_type(a, type, out);
    text_add(out, "%s%s", text_ends(type, "*") ? "" : " ", name);
}

const char *interface_ctype(Arena *arena, const char *type)
{
    const size_t n = strlen(type);
    if (!strcmp(type, "void"))
        return "None";
    if (text_ends(type, "*"))
        return !strcmp(type, "const char *") ? "c_char_p" : "c_void_p";
    const bool is_sized = n > 2 && !strcmp(type + n - 2, "_t");
    return arena_printf(arena, "c_%.*s", (int)(is_sized ? n - 2 : n), type);
}

/* The same of a record's field: what a pointer is to counts, too, and a record is its class. */
static const char *field_ctype(Arena *arena, const char *type)
{
    const size_t n = strlen(type);
    if (!strncmp(type, "Tfc", 3))
        return arena_printf(arena, "_%s", type + 3);
    if (!text_ends(type, "*") || !strcmp(type, "const char *") || !strcmp(type, "const void *"))
        return interface_ctype(arena, type);
    const char *to = text_ends(type, "const *") ? arena_strndup(arena, type, n - strlen("const *"))
                                                : arena_strndup(arena, type, n - strlen(" *"));
    to += text_ends(to, "*") ? 0 : strlen("const ");
    return arena_printf(arena, "POINTER(%s)", field_ctype(arena, to));
}

/* ---- calls ---- */

enum { MOST_ARGUMENTS = 8 };
/* A call's arguments; `name`: what its caller knows it by, behind NAME_.
 *   opens   the first two are the model's constant and the version of the header */
typedef struct CallForm {
    const char *name;
    bool opens;
    int n;
    const char *types[MOST_ARGUMENTS], *names[MOST_ARGUMENTS];
} CallForm;

static CallForm call_form(Arena *arena, const InterfaceCall *call)
{
    CallForm form = {.name = call->name,
                     .opens = !strncmp(call->arguments, "(const TfcModel *", 17)};
    for (const char *at = call->arguments + 1; strcmp(call->arguments, "(void)") && *at;) {
        const size_t length = strcspn(at, ",)");
        const char *name = at + length;
        while (word_length(name - 1))
            name--;
        size_t type = (size_t)(name - at);
        type -= name[-1] == ' ';
        form.types[form.n] = arena_strndup(arena, at, type);
        form.names[form.n++] = arena_strndup(arena, name, length - (size_t)(name - at));
        at += length + strspn(at + length, ",) ");
    }
    static const char columns[] = "_columns";
    if (text_ends(call->name, columns))
        form.name = arena_strndup(arena, call->name, strlen(call->name) - strlen(columns));
    return form;
}

/* "RESULT NAME_CALL(ARGUMENTS from the number `first` on)". */
static void put_prototype(const Artifact *a, const InterfaceCall *call, const CallForm *form,
                          const char *end, int first, Text *out)
{
    put_declared(a, call->result, arena_printf(a->job->arena, "%s_%s%s", a->name, form->name, end),
                 out);
    text_string(out, first < form->n ? "(" : "(void");
    for (int i = first; i < form->n; i++) {
        text_string(out, i > first ? ", " : "");
        put_declared(a, form->types[i], form->names[i], out);
    }
    text_string(out, ")");
}

/* The end of the name of the function that a library has for a call. */
static const char *call_end(const CallForm *form) { return form->opens ? "_version" : ""; }

static void declare_call(const Artifact *a, const InterfaceCall *call, const CallForm *form,
                         Text *out)
{
    if (!form->opens) /* their callers have those of put_opening_call */
        text_add(out, "/* %s */\n", artifact_text(a, call->help));
    text_string(out, "TFC_API ");
    put_prototype(a, call, form, call_end(form), form->opens, out);
    text_string(out, ";\n");
}

/* The function of the header that passes its version. */
static void put_opening_call(const Artifact *a, const InterfaceCall *call, const CallForm *form,
                             Text *out)
{
    enum { FIRST = 2 };
    if (!form->opens)
        return;
    text_add(out, "/* %s */\nstatic inline ", artifact_text(a, call->help));
    put_prototype(a, call, form, "", FIRST, out);
    text_add(out, "\n{\n    return %s_%s_version(%s_HEADER", a->name, form->name, a->name);
    for (int i = FIRST; i < form->n; i++)
        text_add(out, ", %s", form->names[i]);
    text_string(out, ");\n}\n");
}

/* Pointers are passed as void *: what they are to has another name in the runtime. */
static void define_call(const Artifact *a, const InterfaceCall *call, const CallForm *form,
                        Text *out)
{
    put_prototype(a, call, form, call_end(form), form->opens, out);
    text_add(out, "\n{\n    %stfc_model_%s(%s", strcmp(call->result, "void") ? "return " : "",
             call->name, form->opens ? "&model_constant" : "");
    for (int i = form->opens; i < form->n; i++)
        text_add(out, "%s%s%s", i ? ", " : "", text_ends(form->types[i], "*") ? "(void *)" : "",
                 form->names[i]);
    text_string(out, ");\n}\n");
}

static void put_python_call(const Artifact *a, const InterfaceCall *call, const CallForm *form,
                            Text *out)
{
    Arena *arena = a->job->arena;
    text_add(out, "    \"%s%s\": [%s", form->name, call_end(form),
             interface_ctype(arena, call->result));
    for (int i = form->opens; i < form->n; i++)
        text_add(out, ", %s", interface_ctype(arena, form->types[i]));
    text_string(out, "],\n");
}

void interface_put_calls(const Artifact *a, InterfaceForm form, Text *out)
{
    static void (*const puts[])(const Artifact *, const InterfaceCall *, const CallForm *,
                                Text *) = {[CALLS_DECLARED] = declare_call,
                                           [CALLS_OPENING] = put_opening_call,
                                           [CALLS_DEFINED] = define_call,
                                           [CALLS_IN_PYTHON] = put_python_call};
    for (int i = 0; i < CALLS; i++) {
        if (!interface_has(a, interface_calls[i].when))
            continue;
        const CallForm call = call_form(a->job->arena, &interface_calls[i]);
        puts[form](a, &interface_calls[i], &call, out);
    }
}

/* ---- records ---- */

static void put_python_field(Arena *arena, const struct InterfaceField *f, Text *out)
{
    const char *type = f->kind == RECORD_BYTES ? "c_void_p" : field_ctype(arena, f->type);
    text_add(out, f->n ? "(\"%s\", %s * %d), " : "(\"%s\", %s), ", f->name, type, f->n);
}

static void put_c_field(const Artifact *a, const struct InterfaceField *f, Text *out)
{
    text_string(out, "    ");
    put_declared(a, f->type, f->name, out);
    text_add(out, f->n ? "[%d];" : ";", f->n);
    text_add(out, f->help ? " /* %s */\n" : "\n", f->help);
}

void interface_put_records(const Artifact *a, bool in_python, Text *out)
{
    bool has = false;
    for (int i = 0; i < FIELDS; i++) {
        const struct InterfaceField *f = &interface_fields[i];
        has = f->kind == RECORD_HEAD ? interface_has(a, f->when) : has;
        if (!has)
            continue;
        if (f->kind == RECORD_HEAD && in_python) {
            text_add(out, "\n\nclass _%s(ctypes.Structure):\n    _fields_ = [", f->type + 3);
        } else if (f->kind == RECORD_HEAD) {
            text_string(out, "typedef struct ");
            put_declared(a, f->type, "{", out);
            text_add(out, f->help ? " /* %s */\n" : "\n", f->help);
        } else if (f->kind == RECORD_TAIL && in_python) {
            text_string(out, "]\n");
        } else if (f->kind == RECORD_TAIL) {
            text_string(out, "} ");
            put_type(a, f->type, out);
            text_string(out, ";\n");
        } else {
            (in_python ? put_python_field(a->job->arena, f, out) : put_c_field(a, f, out));
        }
    }
    text_string(out, in_python ? "" : "\n");
}
