/* Cutting .tfg text into tokens. */
#include "frontend/lexer.h"

#include "frontend/frontend.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum { MAX_LEX_ERRORS = 10, LONGEST_NUMBER = 60 };

static const char *const token_texts[] = {
#define TOKEN(name, text) text,
    TOKEN_TABLE
#undef TOKEN
};

const char *token_text(TokenKind kind) { return token_texts[kind]; }

typedef struct Lexer {
    Arena *arena;
    Diagnostics *diags;
    const Source *source;
    const char *at, *end, *line_start;
    int line, errors;
    TokenList tokens;
} Lexer;

static Loc place(const Lexer *lexer, const char *start, const char *end)
{
    int length = end > start ? (int)(end - start) : 1;
    return (Loc){.source = lexer->source,
                 .line = lexer->line,
                 .column = (int)(start - lexer->line_start) + 1,
                 .length = length};
}

static void push(Lexer *lexer, TokenKind kind, const char *start, const char *text, double number)
{
    Token token = {kind, place(lexer, start, lexer->at), text, number};
    vec_push(lexer->arena, lexer->tokens, token);
}

static void lex_error(Lexer *lexer, Loc loc, const char *message, const char *detail)
{
    if (lexer->errors++ < MAX_LEX_ERRORS)
        diag_error(lexer->diags, loc, "%s%s", message, detail);
}

static bool is_name_start(char c) { return isalpha((unsigned char)c) || c == '_'; }
static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void lex_name(Lexer *lexer)
{
    const char *start = lexer->at;
    while (lexer->at < lexer->end && is_name_char(*lexer->at))
        lexer->at++;
    const char *name = arena_strndup(lexer->arena, start, (size_t)(lexer->at - start));
    TokenKind kind = TOKEN_NAME;
    for (int word = TOKEN_AND; word < TOKEN_COUNT; word++)
        if (!strcmp(name, token_texts[word]))
            kind = (TokenKind)word;
    push(lexer, kind, start, name, 0);
}

/* After a dot only digits count: `x.0` and `layer.0.query` are paths. */
static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at))
        at++;
    return at;
}

/* The fraction and the exponent of a number, where they are. */
static const char *skip_fraction(const char *at, const char *end)
{
    if (at + 1 < end && *at == '.' && is_digit(at[1]))
        at = skip_digits(at + 1, end);
    if (at == end || (*at != 'e' && *at != 'E'))
        return at;
    const char *exponent = at + 1;
    if (exponent < end && (*exponent == '+' || *exponent == '-'))
        exponent++;
    return exponent < end && is_digit(*exponent) ? skip_digits(exponent, end) : at;
}

static void lex_number(Lexer *lexer)
{
    const char *start = lexer->at;
    bool after_dot = lexer->tokens.count && vec_last(lexer->tokens).kind == TOKEN_DOT;
    lexer->at = skip_digits(start, lexer->end);
    if (!after_dot)
        lexer->at = skip_fraction(lexer->at, lexer->end);
    size_t length = (size_t)(lexer->at - start);
    double number = 0;
    if (length > LONGEST_NUMBER)
        lex_error(lexer, place(lexer, start, lexer->at), "this number has too many digits", "");
    else
        number = strtod(arena_strndup(lexer->arena, start, length), NULL);
    if (isinf(number)) {
        lex_error(lexer, place(lexer, start, lexer->at), "this number is too large", "");
        number = 0;
    }
    push(lexer, TOKEN_NUMBER, start, NULL, number);
}

static void lex_string(Lexer *lexer)
{
    const char *start = lexer->at++;
    Text text = {0};
    text_put(&text, "", 0);
    while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n') {
        char c = *lexer->at++;
        if (c == '\\' && lexer->at < lexer->end && *lexer->at != '\n') {
            c = *lexer->at++;
            if (c == 'n')
                c = '\n';
            else if (c == 't')
                c = '\t';
            else if (c != '"' && c != '\\')
                lex_error(lexer, place(lexer, lexer->at - 2, lexer->at),
                          "unknown escape in a string", "; known are \\\" \\\\ \\n \\t");
        }
        if (c)
            text_put(&text, &c, 1);
    }
    if (lexer->at < lexer->end && *lexer->at == '"')
        lexer->at++;
    else
        lex_error(lexer, place(lexer, start, lexer->at), "this string has no closing quote", "");
    push(lexer, TOKEN_STRING, start, text_keep(lexer->arena, &text), 0);
}

/* What the language writes instead of a character of other languages. */
static const char *hint_for(unsigned char c)
{
    switch (c) {
    case '!': return "; negation is written `not`";
    case '&': return "; write `and`";
    case '|': return "; write `or`";
    case '?': return "; between values choose by `select(condition, a, b)`";
    case '\'': return "; strings are written with \"double quotes\"";
    default: return "";
    }
}

/* 'text' up to its closing quote is read as a string: one message for all of it. */
static void lex_quoted(Lexer *lexer, const char *start)
{
    const char *line_end = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
    size_t rest = (size_t)((line_end ? line_end : lexer->end) - lexer->at);
    const char *close = memchr(lexer->at, '\'', rest);
    if (!close)
        return;
    lexer->at = close + 1;
    push(lexer, TOKEN_STRING, start,
         arena_strndup(lexer->arena, start + 1, (size_t)(close - start - 1)), 0);
}

/* An error at a character that begins no token; && and ||, and strings in single quotes, are
 * read as they are meant. */
static void lex_unknown(Lexer *lexer)
{
    const char *start = lexer->at;
    unsigned char c = (unsigned char)*lexer->at++;
    while (c >= 0x80 && lexer->at < lexer->end && ((unsigned char)*lexer->at & 0xC0) == 0x80)
        lexer->at++;
    bool logical = c == '&' || c == '|';
    if (logical && lexer->at < lexer->end && (unsigned char)*lexer->at == c)
        lexer->at++;
    Loc loc = place(lexer, start, lexer->at);
    const char *seen = c < 32 || c == 127
                           ? arena_printf(lexer->arena, "\\x%02x", c)
                           : arena_strndup(lexer->arena, start, (size_t)(lexer->at - start));
    loc.length = 1;
    lex_error(lexer, loc, "unexpected character ",
              arena_printf(lexer->arena, "`%s`%s", seen, hint_for(c)));
    if (logical)
        push(lexer, c == '&' ? TOKEN_AND : TOKEN_OR, start, NULL, 0);
    if (c == '\'')
        lex_quoted(lexer, start);
}

static void lex_punctuation(Lexer *lexer)
{
    const char *start = lexer->at;
    size_t left = (size_t)(lexer->end - start);
    for (int length = 2; length >= 1; length--)
        for (int kind = TOKEN_OPEN; kind < TOKEN_AND; kind++)
            if ((size_t)length <= left && strlen(token_texts[kind]) == (size_t)length &&
                !memcmp(token_texts[kind], start, (size_t)length)) {
                lexer->at += length;
                push(lexer, (TokenKind)kind, start, NULL, 0);
                return;
            }
    lex_unknown(lexer);
}

TokenList lex_source(Arena *arena, Diagnostics *diags, const Source *source)
{
    Lexer lexer = {.arena = arena,
                   .diags = diags,
                   .source = source,
                   .at = source_start(source),
                   .end = source->text + source->length,
                   .line_start = source_start(source),
                   .line = 1};
    while (lexer.at < lexer.end) {
        char c = *lexer.at;
        if (c == '\n') {
            const char *start = lexer.at++;
            push(&lexer, TOKEN_NEWLINE, start, NULL, 0);
            lexer.line++;
            lexer.line_start = lexer.at;
        } else if (c == ' ' || c == '\t' || c == '\r')
            lexer.at++;
        else if (c == '#')
            while (lexer.at < lexer.end && *lexer.at != '\n')
                lexer.at++;
        else if (is_name_start(c))
            lex_name(&lexer);
        else if (is_digit(c))
            lex_number(&lexer);
        else if (c == '"')
            lex_string(&lexer);
        else
            lex_punctuation(&lexer);
    }
    push(&lexer, TOKEN_END, lexer.at, NULL, 0);
    return lexer.tokens;
}

bool frontend_dump_tokens(const Source *source, Text *out, Diagnostics *diags)
{
    int before = diags->errors;
    TokenList tokens = lex_source(diags->arena, diags, source);
    for (size_t i = 0; i < tokens.count; i++) {
        const Token *token = &tokens.data[i];
        text_add(out, "%d:%d ", token->loc.line, token->loc.column);
        if (token->kind == TOKEN_NAME)
            text_add(out, "name %s", token->text);
        else if (token->kind == TOKEN_NUMBER) {
            text_add(out, "number ");
            text_number(out, token->number);
        } else if (token->kind == TOKEN_STRING) {
            text_add(out, "string ");
            text_quote(out, token->text);
        } else
            text_add(out, "%s", token_text(token->kind));
        text_add(out, "\n");
    }
    return diags->errors == before;
}
