/* The key of a program has all that the program's text says, and both have each field of
 * ir/declared.def and base/dim_formula.def. Of each file under
 * tests/golden/ir/valid every word, number and string is replaced by others or changes
 * places with the next: where the IR takes the
 * change and prints another text, the key must be another, too. Each attribute of attrs.def and
 * each property of a param must have been changed so. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "codegen/cache.h"
#include "ir/text.h"

#include <ctype.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

typedef struct Piece {
    const char *text;
    int length;
    const char *after; /* the name before the last `=`: what the piece says */
    int after_length;
} Piece;

typedef struct Pieces {
    VEC(Piece) list;
} Pieces;

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* Words, numbers and strings of a .tir. */
static Pieces cut(Arena *arena, const char *text)
{
    Pieces pieces = {0};
    Piece last = {0}, name = {0};
    for (const char *at = text; *at;) {
        const char *start = at;
        if (*at == '"') {
            at++;
            at += strcspn(at, "\"") + 1;
        } else if (in_word(*at) || (*at == '-' && isdigit((unsigned char)at[1]))) {
            at++;
            while (in_word(*at))
                at++;
        } else {
            if (*at == '=')
                name = last;
            if (*at == '{' || *at == '}' || *at == '\n')
                name = (Piece){0};
            at++;
            continue;
        }
        last = (Piece){start, (int)(at - start), name.text, name.length};
        vec_push(arena, pieces.list, last);
    }
    return pieces;
}

/* The text, and the key of all functions; NULL if the IR does not take it. */
static const char *read(Arena *arena, const char *text, ProgramKey *key)
{
    Diagnostics diags;
    diag_init(&diags, arena);
    Module *module = ir_parse(arena, &diags, diag_source(arena, "key.tir", text, strlen(text)));
    if (!module || !ir_verify(module, &diags) || !module->functions.count)
        return NULL;
    module->name = "m"; /* no part of a program */
    Text printed = {0};
    ir_print_module(module, &printed);
    const char *copy = text_keep(arena, &printed);
    TargetOptions target = {.cpu = "x86-64-v3"};
    *key = key_of_objects(&target, (const Function *const *)module->functions.data,
                          (int)module->functions.count, "");
    return copy;
}

static const char *const properties[] = {"role", "init", "decay", "kept"};
enum { PROPERTIES = sizeof properties / sizeof *properties };
static bool changed[ATTR_COUNT + PROPERTIES];

static const char *said(int i)
{
    return i < ATTR_COUNT ? attr_info[i].name : properties[i - ATTR_COUNT];
}

static void mark(const Piece *piece)
{
    for (int i = 0; i < ATTR_COUNT + PROPERTIES; i++)
        if (piece->after_length == (int)strlen(said(i)) &&
            !strncmp(piece->after, said(i), (size_t)piece->after_length))
            changed[i] = true;
}

static bool is_same(const Piece *a, const Piece *b)
{
    return a->length == b->length && !strncmp(a->text, b->text, (size_t)a->length);
}

/* What happens to a piece: it alone is replaced; so are those of its line that are the same, as a
 * type stands in an attribute and in the result; it and the next change places. */
typedef enum Change { ALONE, IN_LINE, SWAPPED } Change;

/* NULL: nothing but what ALONE gives. */
static const char *replaced(Arena *arena, const char *source, const Pieces *pieces, size_t i,
                            const char *with, Change change)
{
    const Piece *list = pieces->list.data;
    const char *line = list[i].text, *from = source;
    const char *end = line + strcspn(line, "\n");
    while (line > source && line[-1] != '\n')
        line--;
    const char *text = "";
    int n = 0;
    for (size_t k = 0; k < pieces->list.count; k++) {
        bool in_line = list[k].text >= line && list[k].text < end;
        const char *as = k == i || (change == IN_LINE && in_line && is_same(&list[k], &list[i]))
                             ? with
                         : k == i + 1 && change == SWAPPED
                             ? arena_printf(arena, "%.*s", list[i].length, list[i].text)
                             : NULL;
        if (!as)
            continue;
        text = arena_printf(arena, "%s%.*s%s", text, (int)(list[k].text - from), from, as);
        from = list[k].text + list[k].length;
        n++;
    }
    if (change == IN_LINE && n == 1)
        return NULL; /* was tried alone */
    return arena_printf(arena, "%s%s", text, from);
}

static void check_change(const char *source, const char *text, const ProgramKey *key,
                         const Pieces *pieces, size_t i, const char *with, Change change)
{
    Arena *arena = arena_new();
    const Piece *piece = &pieces->list.data[i];
    ProgramKey other_key;
    const char *other = replaced(arena, source, pieces, i, with, change);
    const char *other_text = other ? read(arena, other, &other_key) : NULL;
    if (other_text && strcmp(other_text, text)) {
        if (!memcmp(key, &other_key, sizeof *key))
            fail_msg("the key is the same with %s instead of %.*s in\n%s", with, piece->length,
                     piece->text, source);
        mark(piece);
    }
    arena_free(arena);
}

static const char *const others[] = {
    "true",     "false",      "f64",   "bf16", "i32", "\"words\"", "state", "trained",
    "\"int4\"", "\"values\"", "zeros", "1",    "[]",  "0.5",       "int8",  "B"};

static void check_file(const char *path)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const Source *file = file_read(&diags, arena, path, 1 << 20);
    assert_non_null(file);
    ProgramKey key;
    const char *text = read(arena, file->text, &key);
    assert_non_null(text);
    Pieces pieces = cut(arena, file->text);
    for (size_t i = 0; i < pieces.list.count; i++) {
        const Piece *piece = &pieces.list.data[i];
        const char *more = *piece->text == '"' ? "\"x\""
                           : isdigit((unsigned char)*piece->text)
                               ? arena_printf(arena, "%d", atoi(piece->text) + 1)
                               : arena_printf(arena, "%.*s_", piece->length, piece->text);
        for (Change change = ALONE; change < SWAPPED; change++) {
            check_change(file->text, text, &key, &pieces, i, more, change);
            for (size_t k = 0; k < sizeof others / sizeof *others; k++)
                check_change(file->text, text, &key, &pieces, i, others[k], change);
        }
        if (i + 1 < pieces.list.count)
            check_change(file->text, text, &key, &pieces, i,
                         arena_printf(arena, "%.*s", piece[1].length, piece[1].text), SWAPPED);
    }
    arena_free(arena);
}

static void test_key_has_all(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob("tests/golden/ir/valid/*.tir", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        check_file(files.gl_pathv[i]);
    globfree(&files);
    bool all = true;
    for (int i = 0; i < ATTR_COUNT + PROPERTIES; i++)
        if (!changed[i]) {
            print_error("no file of tests/golden/ir/valid has `%s` where it can be changed\n",
                        said(i));
            all = false;
        }
    assert_true(all);
}

/* ---- fields, one by one ---- */

static const char fields_text[] = "module \"m\"\n"
                                  "dim B\n"
                                  "dim N\n"
                                  "dim S ragged B\n"
                                  "dim T ragged B\n"
                                  "dim C ragged B = (2 S + 1 T + 3) / 2 [4, 9]\n"
                                  "param \"w\" : f32[2, 4] {role = trained, init = normal(0, 1), "
                                  "decay = true}\n"
                                  "\n"
                                  "func f {\n"
                                  "  %0 = param {name = \"w\"} : f32[2, 4]\n"
                                  "  output %0 {name = \"o\"}\n"
                                  "}\n";

/* FieldCase: a module with a param and two dimensions, one made of others. */
typedef struct FieldCase {
    Arena *arena;
    Diagnostics diags;
    Module *module;
    ParamInfo *param;
    Symbol *dim, *made;
} FieldCase;

/* The case for a field, in which another value of the field means something. */
static FieldCase case_new(const char *field)
{
    FieldCase c = {.arena = arena_new()};
    diag_init(&c.diags, c.arena);
    c.module = ir_parse(c.arena, &c.diags,
                        diag_source(c.arena, "f.tir", fields_text, sizeof fields_text - 1));
    assert_non_null(c.module);
    c.param = c.module->params.data[0];
    c.dim = &c.module->symbols.data[3];
    c.made = &c.module->symbols.data[4];
    if (!strcmp(field, "batch")) /* that of a dimension made of others follows */
        c.module->symbols.count--;
    if (!strcmp(field, "file") || !strcmp(field, "tensor")) {
        c.param->init = INIT_FILE;
        c.param->file = c.param->tensor = "first";
    }
    return c;
}

static const char *case_text(FieldCase *c, const Module *module, ProgramKey *key)
{
    Text printed = {0};
    ir_print_module(module, &printed);
    const char *copy = text_keep(c->arena, &printed);
    TargetOptions target = {.cpu = "x86-64-v3"};
    *key = key_of_objects(&target, (const Function *const *)module->functions.data, 1, "");
    return copy;
}

/* Text and key of the changed module are others, and the text is read as it was printed; of a field
 * that is not meant, both are the same. */
static void check_field(FieldCase *c, const char *field, bool is_meant)
{
    FieldCase first = case_new(field);
    ProgramKey key, other;
    const char *text = case_text(&first, first.module, &key),
               *other_text = case_text(c, c->module, &other);
    if (is_meant == !memcmp(&key, &other, sizeof key))
        fail_msg("the key of a program %s the field %s", is_meant ? "lacks" : "has", field);
    if (is_meant == !strcmp(text, other_text))
        fail_msg("the text form %s the field %s", is_meant ? "lacks" : "has", field);
    const Source *source = diag_source(first.arena, "g.tir", other_text, strlen(other_text));
    Module *read = ir_parse(first.arena, &first.diags, source);
    if (!read || strcmp(case_text(&first, read, &key), other_text) != 0)
        fail_msg("what is printed of the field %s is not read:\n%s", field, other_text);
    arena_free(first.arena);
    arena_free(c->arena);
}

static int other_number(const char *field, int now)
{
    return !strcmp(field, "init")    ? INIT_UNIFORM
           : !strcmp(field, "role")  ? PARAM_FROZEN
           : !strcmp(field, "quant") ? QUANT_NONE + 1
           : !strcmp(field, "batch") ? NO_SYMBOL
                                     : !now;
}

/* Another value of a field of each kind. */
#define OTHER_text(name, field) (field) = "other"
#define OTHER_number(name, field) (field) = other_number(name, (int)(field))
#define OTHER_real(name, field) (field) += 2
#define OTHER_shape(name, field) (field).dims[1].size++
#define OTHER_formula(name, field) (field).plus++
#define OTHER_place(name, field) (field).source = NULL

#define CHECK(owner, kind, name)                             \
    {                                                        \
        FieldCase c = case_new(#name);                       \
        OTHER_##kind(#name, owner->name);                    \
        check_field(&c, #name, strcmp(#kind, "place") != 0); \
    }

static void test_key_has_fields(void **state)
{
    (void)state;
#define PARAM(kind, type, name) CHECK(c.param, kind, name)
#include "ir/declared.def"
#define DIM(kind, type, name) CHECK(c.DIM_WITH_##kind, kind, name)
#define DIM_WITH_text dim
#define DIM_WITH_number dim
#define DIM_WITH_formula made
#include "ir/declared.def"
}

static DimTerm *part_DimTerm(FieldCase *c) { return &c->made->formula.terms[0]; }
static DimFormula *part_DimFormula(FieldCase *c) { return &c->made->formula; }

static int32_t other_part(const char *field, int32_t now)
{
    return !strcmp(field, "n") || !strcmp(field, "symbol") ? 1 : now + 1;
}

#define RECORD(T)               \
    static void check_##T(void) \
    {                           \
        T *(*const part)(FieldCase *) = part_##T;
#define END(T) }
#define VALUE(type, name)                   \
    {                                       \
        FieldCase c = case_new("");         \
        type *value = &part(&c)->name;      \
        *value = other_part(#name, *value); \
        check_field(&c, #name, true);       \
    }
#define PARTS(T, name, n) check_##T();
#include "base/dim_formula.def"

static void test_key_has_formulas(void **state)
{
    (void)state;
    check_DimFormula();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_key_has_all),
                                       cmocka_unit_test(test_key_has_fields),
                                       cmocka_unit_test(test_key_has_formulas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
