/* The scanner of the IR's text form: bytes to tokens. Comments go from # to the
 * end of the line. */
#include "ir/scan.h"

#include "ir/words.h"

#include <string.h>

enum { LONGEST_TOKEN = 4096, LARGEST_ID = 100000000 };

Scanner scan_begin(Arena *arena, Diagnostics *diags, const Source *source)
{
    return (Scanner){.arena = arena,
                     .diags = diags,
                     .source = source,
                     .at = source->text,
                     .end = source->text + source->length,
                     .line_start = source->text,
                     .line = 1,
                     .starts_line = true};
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
static void finish(const Scanner *scan, Token *token, TokenKind kind, const char *start)
{
    token->kind = kind;
    token->loc.length = (int)(scan->at - start);
    token->text = arena_strndup(scan->arena, start, (size_t)(scan->at - start));
}

static bool scan_word(Scanner *scan, Token *token)
{
    const char *start = scan->at;
    while (word_goes_on(peek(scan, 0)))
        scan->at++;
    if (scan->at - start > LONGEST_TOKEN) {
        diag_error(scan->diags, token->loc, "this word is longer than %d bytes", LONGEST_TOKEN);
        return false;
    }
    finish(scan, token, TOKEN_WORD, start);
    return true;
}

/* Digits, fraction and exponent; -inf too. */
static bool scan_number(Scanner *scan, Token *token)
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
    if (scan->at - start > 64) {
        diag_error(scan->diags, token->loc, "this number is longer than 64 bytes");
        return false;
    }
    finish(scan, token, TOKEN_NUMBER, start);
    return true;
}

static bool scan_value(Scanner *scan, Token *token)
{
    const char *start = scan->at++;
    int64_t id = 0;
    bool digits = false;
    for (; is_digit(peek(scan, 0)); scan->at++, digits = true)
        if (id <= LARGEST_ID)
            id = id * 10 + (peek(scan, 0) - '0');
    finish(scan, token, TOKEN_VALUE, start);
    token->number = id;
    if (!digits)
        diag_error(scan->diags, token->loc, "a value is written %% and a number: %%12");
    else if (id > LARGEST_ID)
        diag_error(scan->diags, token->loc, "the number of a value may be at most %d", LARGEST_ID);
    return digits && id <= LARGEST_ID;
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

static bool scan_string(Scanner *scan, Token *token)
{
    const char *start = scan->at++, *problem = NULL;
    Text contents = {0};
    text_put(&contents, "", 0);
    while (peek(scan, 0) != '"' && !problem) {
        int c = peek(scan, 0);
        if (c == '\n' || c == 0) {
            problem = c ? "this string has no closing quote on its line"
                        : "this string is not closed or holds a NUL byte";
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
    if (!problem) {
        scan->at++;
        if (contents.length > LONGEST_TOKEN)
            problem = "this string is too long";
    }
    finish(scan, token, TOKEN_STRING, start);
    token->text = arena_strdup(scan->arena, contents.data);
    text_free(&contents);
    if (problem)
        diag_error(scan->diags, token->loc, "%s", problem);
    return !problem;
}

bool scan_next(Scanner *scan, Token *token)
{
    skip_blanks(scan);
    *token = (Token){.kind = TOKEN_END,
                     .text = "",
                     .starts_line = scan->starts_line,
                     .loc = {scan->source, scan->line, (int)(scan->at - scan->line_start) + 1, 1}};
    scan->starts_line = false;
    if (scan->at == scan->end)
        return true;
    int c = peek(scan, 0);
    if (word_starts(c))
        return scan_word(scan, token);
    if (is_digit(c) || c == '-')
        return scan_number(scan, token);
    if (c == '%')
        return scan_value(scan, token);
    if (c == '"')
        return scan_string(scan, token);
    const char *start = scan->at++;
    finish(scan, token, TOKEN_MARK, start);
    token->mark = (char)c;
    if (c && strchr("=:,{}()[]@~", c))
        return true;
    if (c >= 32 && c < 127)
        diag_error(scan->diags, token->loc, "'%c' has no meaning here", c);
    else
        diag_error(scan->diags, token->loc, "the byte 0x%02x has no meaning here", (unsigned)c);
    return false;
}
