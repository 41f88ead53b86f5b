/* The key of a program has all that the program's text says. Of each file under
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
    const char *copy = arena_strdup(arena, printed.data);
    text_free(&printed);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_key_has_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
