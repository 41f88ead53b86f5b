/* The editors' files know exactly the words that the frontend knows, and Vim, where
 * there is one, and the grammar of VS Code colour them so. */
#define _POSIX_C_SOURCE 200809L
#include "base/file.h"
#include "base/text.h"
#include "frontend/elab.h"
#include "frontend/lexer.h"
#include "frontend/parser.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST_WORDS = 256 };

/* The list that has the most of these words: from its `before` to its `after`, NULL: none. */
static const char *find_list(Arena *arena, const char *text, const char *before, const char *after,
                             const char *const *words, int n, const char **end)
{
    const char *best = NULL;
    int most = 0;
    for (const char *at = text; (at = strstr(at, before)); at++) {
        const char *stop = strstr(at + strlen(before), after);
        if (!stop || memchr(at, '\n', (size_t)(stop - at)))
            continue;
        const char *list = arena_strndup(arena, at, (size_t)(stop - at));
        int found = 0;
        for (int i = 0; i < n; i++)
            found += strstr(list, words[i]) != NULL;
        if (found > most) {
            most = found;
            best = at;
            *end = stop;
        }
    }
    return best;
}

/* TFC_UPDATE=1: the file with `list` in the place of the old one. */
static const Source *rewrite(Diagnostics *diags, Arena *arena, const Source *file,
                             const char *before, const char *after, const char *const *words, int n,
                             const char *list)
{
    const char *to = NULL, *from = find_list(arena, file->text, before, after, words, n, &to);
    if (!from)
        return file;
    const char *text = arena_printf(arena, "%.*s%s%s", (int)(from - file->text), file->text, list,
                                    to + strlen(after));
    assert_true(file_write_all(diags, file->path, text, strlen(text)));
    return diag_source(arena, file->path, text, strlen(text));
}

/* before, the words with `between` between them, after: as the file has it. */
static void expect(const char *path, const char *before, const char *between, const char *after,
                   const char *const *words, int n)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const Source *file = file_read(&diags, arena, path, 1 << 20);
    assert_non_null(file);
    Text text = {0};
    text_add(&text, "%s", before);
    for (int i = 0; i < n; i++)
        text_add(&text, "%s%s", i ? between : "", words[i]);
    text_add(&text, "%s", after);
    if (!strstr(file->text, text.data) && getenv("TFC_UPDATE"))
        file = rewrite(&diags, arena, file, before, after, words, n, text.data);
    if (!strstr(file->text, text.data))
        print_message("%s should hold:\n%s\n", path, text.data);
    assert_non_null(strstr(file->text, text.data));
    text_free(&text);
    arena_free(arena);
}

static const char vim[] = "editors/vim/syntax/tfg.vim";
static const char vscode[] = "editors/vscode/syntaxes/tfg.tmLanguage.json";

/* The words that name nothing else: and, or …; true, false. */
static int reserved(const char **words, const char **values)
{
    int n = 0, n_values = 0;
    for (int kind = 0; kind < TOKEN_COUNT; kind++) {
        const char *text = token_text((TokenKind)kind);
        if (!isalpha((unsigned char)*text) || strchr(text, ' '))
            continue;
        if (kind == TOKEN_TRUE || kind == TOKEN_FALSE)
            values[n_values++] = text;
        else
            words[n++] = text;
    }
    assert_true(n > 0 && n_values == 2);
    return n;
}

static void reserved_words(void **state)
{
    (void)state;
    const char *words[MOST_WORDS], *values[2];
    int n = reserved(words, values), n_values = 2;
    expect(vim, "syntax keyword tfgReserved ", " ", "\n", words, n);
    expect(vim, "syntax keyword tfgBoolean ", " ", "\n", values, n_values);
    expect(vscode, "\\\\b(", "|", ")\\\\b", words, n);
    expect(vscode, "\\\\b(", "|", ")\\\\b", values, n_values);
}

static void declarations(void **state)
{
    (void)state;
    const char *words[MOST_WORDS];
    int n = declaration_words(words);
    expect(vim, "\\%(", "\\|", "\\)", words, n);
    expect(vscode, "\\\\b(", "|", ")\\\\b", words, n);
}

static void builtins(void **state)
{
    (void)state;
    const char *words[MOST_WORDS];
    assert_in_range(builtin_names(NULL), 1, MOST_WORDS);
    int n = builtin_names(words);
    expect(vim, "\\%(", "\\|", "\\)", words, n);
    expect(vscode, "\\\\b(", "|", ")\\\\b", words, n);
}

/* A line of a sample, and what Vim has to say of the word in it. */
static void add_sample(Text *sample, Text *expected, const char *before, const char *word,
                       const char *after, const char *group)
{
    text_add(sample, "%s%s%s\n", before, word, after);
    text_add(expected, "%zu %s %s\n", strlen(before) + 1, word, group);
}

static void write_samples(Text *sample, Text *expected)
{
    const char *words[MOST_WORDS], *values[2];
    int n = reserved(words, values);
    for (int i = 0; i < n; i++)
        add_sample(sample, expected, "  y = x ", words[i], " z", "tfgReserved");
    for (int i = 0; i < 2; i++)
        add_sample(sample, expected, "  y = ", values[i], "", "tfgBoolean");
    n = declaration_words(words);
    for (int i = 0; i < n; i++) {
        bool block = !strcmp(words[i], "train") || !strcmp(words[i], "weights");
        add_sample(sample, expected, "", words[i], block ? " {" : " name", "tfgDeclaration");
        add_sample(sample, expected, "  y = ", words[i], " + 1", "none");
    }
    n = builtin_names(words);
    for (int i = 0; i < n; i++) {
        add_sample(sample, expected, "  y = ", words[i], "(x)", "tfgFunction");
        add_sample(sample, expected, "  y = x + ", words[i], " + 1", "none");
    }
    add_sample(sample, expected, "block f(x) { ", "return", " x }", "tfgReserved");
    add_sample(sample, expected, "frozen ", "param", " w : [3]", "tfgDeclaration");
    add_sample(sample, expected, "input x : token[B, S", "~", "]", "tfgRagged");
    add_sample(sample, expected, "const x = ", "1.5e-3", "", "tfgNumber");
    add_sample(sample, expected, "param w = file(", "\"a.npy\"", ")", "tfgString");
    add_sample(sample, expected, "x = 1 ", "# exp(x)", "", "tfgComment");
    add_sample(sample, expected, "input ", "input1", " : [3]", "none");
}

/* Writes the samples to a folder, runs the command in whose text $folder is that one, and
 * compares what it says with what is expected. Skips where the program is absent. */
static void compare_colours(const char *program, const char *command)
{
    Arena *arena = arena_new();
    if (system(arena_printf(arena, "command -v %s >/dev/null", program))) {
        print_message("no %s: its colours were not looked at\n", program);
        arena_free(arena);
        skip();
    }
    Diagnostics diags;
    diag_init(&diags, arena);
    Text sample = {0}, expected = {0};
    write_samples(&sample, &expected);
    char folder[] = "/tmp/tfc_colours_XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *file = arena_printf(arena, "%s/sample.tfg", folder);
    const char *wanted = arena_printf(arena, "%s/expected", folder);
    const char *said = arena_printf(arena, "%s/said", folder);
    assert_true(file_write_all(&diags, file, sample.data, sample.length));
    assert_true(file_write_all(&diags, wanted, expected.data, expected.length));
    assert_int_equal(system(arena_printf(arena, "folder=%s; %s", folder, command)), 0);
    const Source *groups = file_read(&diags, arena, said, 1 << 20);
    assert_non_null(groups);
    assert_string_equal(groups->text, expected.data);
    assert_int_equal(system(arena_printf(arena, "rm -r %s", folder)), 0);
    text_free(&sample);
    text_free(&expected);
    arena_free(arena);
}

/* Vim opens the sample as it would any .tfg. */
static void vim_colours(void **state)
{
    (void)state;
    compare_colours("vim", "vim -u NONE -i NONE -N -n -es -S tests/frontend/colours.vim "
                           "$folder/sample.tfg </dev/null >$folder/messages 2>&1");
}

static void vscode_colours(void **state)
{
    (void)state;
    compare_colours("node", "node tests/frontend/colours.mjs "
                            "editors/vscode/syntaxes/tfg.tmLanguage.json $folder");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reserved_words),
                                       cmocka_unit_test(declarations), cmocka_unit_test(builtins),
                                       cmocka_unit_test(vim_colours),
                                       cmocka_unit_test(vscode_colours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
