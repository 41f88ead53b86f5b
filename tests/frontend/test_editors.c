/* The editors' files know exactly the words that the frontend knows. */
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
#include <string.h>
#include <cmocka.h>

enum { MOST_WORDS = 256 };

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
    if (!strstr(file->text, text.data))
        print_message("%s should hold:\n%s\n", path, text.data);
    assert_non_null(strstr(file->text, text.data));
    text_free(&text);
    arena_free(arena);
}

static const char vim[] = "editors/vim/syntax/tfg.vim";
static const char vscode[] = "editors/vscode/syntaxes/tfg.tmLanguage.json";

static void reserved_words(void **state)
{
    (void)state;
    const char *words[MOST_WORDS], *values[MOST_WORDS];
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reserved_words), cmocka_unit_test(declarations),
                                       cmocka_unit_test(builtins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
