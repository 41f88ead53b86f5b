/* The scanner: bytes to tokens; see scan.h. */
#include "base/scan.h"

enum { LONGEST_WORD = 4096, LONGEST_NUMBER = 64, LARGEST_ID = 100000000 };

Scanner scan_begin(Arena *arena, Diagnostics *diags, const Source *source, const char *marks)
{
    return (Scanner){.arena = arena,
                     .diags = diags,
                     .source = source,
                     .marks = marks,
                     .at = source_start(source),
                     .end = source->text + source->length,
                     .line_start = source_start(source),
                     .line = 1,
                     .starts_line = true};
}

bool word_is_bare(const char *name)
{
    if (!word_starts((unsigned char)*name))
        return false;
    while (word_goes_on((unsigned char)*name))
        name++;
    return *name == 0;
}

void text_word(Text *text, const char *name)
{
    if (word_is_bare(name))
        text_string(text, name);
    else
        text_quote(text, name);
}

static int peek(const Scanner *scan, size_t ahead)
{
    return (size_t)(scan->end - scan->at) > ahead ? (unsigned char)scan->at[ahead] : 0;
}

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

static void skip_blanks(Scanner *scan)
{
    for (; scan->at < scan->end; scan->at++) {
        if (*scan->at == '#') {
            while (scan->at < scan->end && *scan->at != '\n')
                scan->at++;
            if (scan->at == scan->end)
                return;
        }
        if (*scan->at == '\n') {
            scan->line++;
            scan->line_start = scan->at + 1;
            scan->starts_line = true;
        } else if (*scan->at != ' ' && *scan->at != '\t' && *scan->at != '\r') {
            return;
        }
    }
}

/* Gives the token the bytes from its start to here. */
static void finish(const Scanner *scan, ScanToken *token, ScanKind kind, const char *start)
{
    token->kind = kind;
    token->loc.length = (int)(scan->at - start);
    token->text = arena_strndup(scan->arena, start, (size_t)(scan->at - start));
}

static void bad(const Scanner *scan, ScanToken *token, const char *problem)
{
    diag_error(scan->diags, token->loc, "%s", problem);
    token->kind = TOKEN_BAD;
}

static void scan_word(Scanner *scan, ScanToken *token)
{
    const char *start = scan->at;
    while (word_goes_on(peek(scan, 0)))
        scan->at++;
    finish(scan, token, TOKEN_WORD, start);
    if (scan->at - start > LONGEST_WORD)
        bad(scan, token, "this word is too long");
}

/* Digits, fraction and exponent; -inf too. */
static void scan_number(Scanner *scan, ScanToken *token)
{
    const char *start = scan->at;
    if (peek(scan, 0) == '-')
        scan->at++;
    if (word_starts(peek(scan, 0))) {
        while (word_goes_on(peek(scan, 0)))
            scan->at++;
    } else {
        while (is_digit(peek(scan, 0)) || peek(scan, 0) == '.')
            scan->at++;
        if (peek(scan, 0) == 'e' || peek(scan, 0) == 'E') {
            scan->at++;
            if (peek(scan, 0) == '+' || peek(scan, 0) == '-')
                scan->at++;
            while (is_digit(peek(scan, 0)))
                scan->at++;
        }
    }
    finish(scan, token, TOKEN_NUMBER, start);
    if (scan->at - start > LONGEST_NUMBER)
        bad(scan, token, "this number is too long");
}

static void scan_value(Scanner *scan, ScanToken *token)
{
    const char *start = scan->at++;
    int64_t id = 0;
    for (; is_digit(peek(scan, 0)); scan->at++)
        if (id <= LARGEST_ID)
            id = id * 10 + (peek(scan, 0) - '0');
    finish(scan, token, TOKEN_VALUE, start);
    token->number = id;
    if (token->loc.length == 1)
        bad(scan, token, "a value is written % and a number: %12");
    else if (id > LARGEST_ID)
        bad(scan, token, "the number of this value is too large");
}

static int hex_digit(int c)
{
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that an escape stands for; -1 if there is no such escape. */
static int scan_escape(Scanner *scan)
{
    int c = peek(scan, 1);
    scan->at += c ? 2 : 1;
    if (c == 'n')
        return '\n';
    if (c == 't')
        return '\t';
    if (c == '"' || c == '\\')
        return c;
    if (c != 'x' || hex_digit(peek(scan, 0)) < 0 || hex_digit(peek(scan, 1)) < 0)
        return -1;
    int byte = hex_digit(peek(scan, 0)) * 16 + hex_digit(peek(scan, 1));
    scan->at += 2;
    return byte ? byte : -1; /* a NUL would end the string */
}

static void scan_string(Scanner *scan, ScanToken *token)
{
    const char *start = scan->at++, *problem = NULL;
    Text contents = {0};
    text_put(&contents, "", 0);
    while (peek(scan, 0) != '"') {
        int c = peek(scan, 0);
        if (c == '\n' || c == 0) {
            problem = c || scan->at == scan->end ? "this string has no closing quote on its line"
                                                 : "a NUL byte in a string";
            break;
        }
        if (c == '\\')
            c = scan_escape(scan);
        else
            scan->at++;
        if (c < 0)
            problem = "unknown escape in a string; there are \\\" \\\\ \\n \\t and \\x01 to \\xff";
        else
            text_put(&contents, &(char){(char)c}, 1);
    }
    if (peek(scan, 0) == '"')
        scan->at++;
    finish(scan, token, TOKEN_STRING, start);
    if (contents.length > LONGEST_WORD)
        problem = "this string is too long";
    token->text = text_keep(scan->arena, &contents);
    if (problem)
        bad(scan, token, problem);
}

static void scan_mark(Scanner *scan, ScanToken *token)
{
    const char *start = scan->at++;
    unsigned char c = (unsigned char)*start;
    finish(scan, token, TOKEN_MARK, start);
    token->mark = (char)c;
    if (c && strchr(scan->marks, c))
        return;
    bad(scan, token,
        c > 32 && c < 127 ? arena_printf(scan->arena, "'%c' has no meaning here", c)
                          : arena_printf(scan->arena, "the byte 0x%02x has no meaning here", c));
}

ScanToken scan_next(Scanner *scan)
{
    skip_blanks(scan);
    ScanToken token = {.kind = TOKEN_END,
                       .text = "",
                       .starts_line = scan->starts_line,
                       .loc = {.source = scan->source,
                               .line = scan->line,
                               .column = (int)(scan->at - scan->line_start) + 1,
                               .length = 1}};
    scan->starts_line = false;
    int c = peek(scan, 0);
    if (scan->at == scan->end)
        return token;
    if (word_starts(c))
        scan_word(scan, &token);
    else if (is_digit(c) || c == '-')
        scan_number(scan, &token);
    else if (c == '%')
        scan_value(scan, &token);
    else if (c == '"')
        scan_string(scan, &token);
    else
        scan_mark(scan, &token);
    return token;
}
