/* Tokens in hand, recovery, statements.
 *
 * After a mistake the parser is silent until the next line that starts a
 * statement, so that each mistake gives one message and the next is found. */
#include "frontend/parser.h"

#include "frontend/foreign.h"

/* ---- tokens in hand ---- */

const Token *peek_token(Parser *p)
{
    if (p->parens > 0)
        skip_newlines(p);
    return &p->tokens.data[p->at];
}

const Token *peek_ahead(const Parser *p, size_t n)
{
    size_t at = p->at + n;
    return &p->tokens.data[at < p->tokens.count ? at : p->tokens.count - 1];
}

const Token *take_token(Parser *p)
{
    const Token *token = peek_token(p);
    if (token->kind != TOKEN_END)
        p->at++;
    return token;
}

bool accept_token(Parser *p, TokenKind kind)
{
    if (peek_token(p)->kind != kind)
        return false;
    take_token(p);
    return true;
}

void skip_newlines(Parser *p)
{
    while (p->tokens.data[p->at].kind == TOKEN_NEWLINE)
        p->at++;
}

bool at_word(Parser *p, const char *word)
{
    const Token *token = peek_token(p);
    return token->kind == TOKEN_NAME && !strcmp(token->text, word);
}

const char *token_seen(Parser *p, const Token *token)
{
    switch (token->kind) {
    case TOKEN_END:
    case TOKEN_NEWLINE: return arena_printf(p->arena, "the %s", token_text(token->kind));
    case TOKEN_NAME: return arena_printf(p->arena, "`%.60s`", token->text);
    case TOKEN_NUMBER:
    case TOKEN_STRING: return token_text(token->kind);
    default: return arena_printf(p->arena, "`%s`", token_text(token->kind));
    }
}

/* Whether a message, such as that of the lexer about a character, is about this line already. */
static bool line_is_told(const Parser *p, Loc loc)
{
    for (size_t i = p->first_message; i < p->diags->list.count; i++) {
        const Diag *diag = &p->diags->list.data[i];
        if (diag->severity == DIAG_ERROR && diag->loc.line == loc.line)
            return true;
    }
    return false;
}

bool parse_error(Parser *p, Loc loc, const char *format, ...)
{
    bool told = !p->panic && !line_is_told(p, loc) && p->errors++ < MAX_MISTAKES;
    if (told) {
        va_list args;
        va_start(args, format);
        diag_error(p->diags, loc, "%s", arena_vprintf(p->arena, format, args));
        va_end(args);
    }
    p->panic = true;
    return told;
}

bool unexpected_token(Parser *p, const char *what)
{
    const Token *token = peek_token(p);
    return parse_error(p, token->loc, "expected %s, not %s%s", what, token_seen(p, token),
                       foreign_token(p->arena, p->tokens.data, token));
}

bool expect_token(Parser *p, TokenKind kind, const char *where)
{
    if (accept_token(p, kind))
        return true;
    const char *word =
        kind == TOKEN_NAME ? "a name" : arena_printf(p->arena, "`%s`", token_text(kind));
    unexpected_token(p, arena_printf(p->arena, "%s%s", word, where));
    return false;
}

Node *node_new(Parser *p, NodeKind kind, Loc loc)
{
    Node *node = ARENA_NEW(p->arena, Node);
    node->kind = kind;
    node->loc = loc;
    return node;
}

Loc loc_from(const Parser *p, Loc start)
{
    if (!p->at)
        return start;
    Loc end = p->tokens.data[p->at - 1].loc;
    if (end.line == start.line && end.column + end.length > start.column)
        start.length = end.column + end.length - start.column;
    return start;
}

static int list_depth(NodeList list)
{
    int depth = 0;
    for (size_t i = 0; i < list.count; i++)
        depth = list.data[i]->depth > depth ? list.data[i]->depth : depth;
    return depth;
}

void set_node_depth(Parser *p, Node *node)
{
    int depth = list_depth(node->kids);
    if (node->a && node->a->depth > depth)
        depth = node->a->depth;
    if (node->b && node->b->depth > depth)
        depth = node->b->depth;
    node->depth = depth + 1;
    if (node->depth > MAX_DEPTH)
        parse_error(p, node->loc, "this expression is nested too deeply");
}

bool enter_level(Parser *p)
{
    if (++p->depth <= MAX_DEPTH)
        return true;
    parse_error(p, p->tokens.data[p->at].loc, "this is nested too deeply");
    p->depth--;
    return false;
}

void leave_level(Parser *p) { p->depth--; }

void recover(Parser *p)
{
    p->parens = 0;
    p->panic = false;
    int braces = 0;
    for (;; p->at++) {
        TokenKind kind = p->tokens.data[p->at].kind;
        if (kind == TOKEN_END || (kind == TOKEN_NEWLINE && braces <= 0))
            return;
        braces += kind == TOKEN_OPEN_BODY;
        if (kind == TOKEN_CLOSE_BODY && --braces < 0)
            return;
    }
}

/* ---- statements ---- */

void end_statement(Parser *p)
{
    TokenKind next = p->tokens.data[p->at].kind;
    if (p->panic || next == TOKEN_NEWLINE || next == TOKEN_SEMICOLON || next == TOKEN_END)
        return;
    unexpected_token(p, "the end of the statement");
}

static Node *parse_repeat(Parser *p)
{
    Node *node = node_new(p, NODE_REPEAT, take_token(p)->loc);
    node->a = parse_expression(p);
    if (!p->panic && accept_token(p, TOKEN_AS)) {
        const Token *label = peek_token(p);
        if (expect_token(p, TOKEN_NAME, " for what is repeated"))
            node->label = label->text;
    }
    if (!p->panic)
        node->body = parse_body(p);
    return node;
}

/* Of a word where a statement, or an `else`, begins. */
static void unexpected_word(Parser *p, const Token *token)
{
    const char *hint = foreign_statement(token->text);
    parse_error(p, token->loc, "`%.60s` begins no statement%s", token->text,
                hint ? hint : suggest_statement(p, token->text));
}

static Node *parse_if(Parser *p)
{
    Node *node = node_new(p, NODE_IF, take_token(p)->loc);
    if (!enter_level(p))
        return node;
    node->a = parse_expression(p);
    if (!p->panic && peek_token(p)->kind == TOKEN_ASSIGN)
        parse_error(p, peek_token(p)->loc, "`=` names a value; `==` compares");
    if (!p->panic)
        node->body = parse_body(p);
    size_t before = p->at;
    TokenKind after = peek_ahead(p, 1)->kind;
    bool word =
        peek_token(p)->kind == TOKEN_NAME && (after == TOKEN_OPEN_BODY || after == TOKEN_IF);
    skip_newlines(p);
    if (!p->panic && word)
        unexpected_word(p, peek_token(p));
    else if (p->panic || peek_token(p)->kind != TOKEN_ELSE)
        p->at = before;
    else {
        take_token(p);
        if (peek_token(p)->kind == TOKEN_IF)
            vec_push(p->arena, node->otherwise, parse_if(p));
        else
            node->otherwise = parse_body(p);
    }
    leave_level(p);
    return node;
}

static Node *parse_return(Parser *p)
{
    Node *node = node_new(p, NODE_RETURN, take_token(p)->loc);
    do
        vec_push(p->arena, node->kids, parse_expression(p));
    while (!p->panic && accept_token(p, TOKEN_COMMA));
    return node;
}

bool assignment_ahead(const Parser *p)
{
    for (size_t n = 0; peek_ahead(p, n)->kind == TOKEN_NAME; n += 2)
        if (peek_ahead(p, n + 1)->kind != TOKEN_COMMA)
            return peek_ahead(p, n + 1)->kind == TOKEN_ASSIGN;
    return false;
}

static Node *parse_assign(Parser *p)
{
    Node *node = node_new(p, NODE_ASSIGN, peek_token(p)->loc);
    do
        vec_push(p->arena, node->kids, named_node(p, NODE_NAME, ""));
    while (accept_token(p, TOKEN_COMMA));
    node->name = node->kids.data[0]->name;
    expect_token(p, TOKEN_ASSIGN, "");
    skip_newlines(p);
    node->a = parse_expression(p);
    return node;
}

/* Whether the name or call that a statement seems to be is a word that begins one, by what
 * follows. */
static bool is_misspelt(const Node *expression, TokenKind next)
{
    bool value = next == TOKEN_NAME || next == TOKEN_NUMBER || next == TOKEN_STRING ||
                 next == TOKEN_TRUE || next == TOKEN_FALSE || next == TOKEN_NOT;
    return (expression->kind == NODE_NAME && (value || next == TOKEN_OPEN_BODY)) ||
           (expression->kind == NODE_CALL && next == TOKEN_OPEN_BODY);
}

static Node *parse_statement(Parser *p)
{
    const Token *token = peek_token(p);
    switch (token->kind) {
    case TOKEN_REPEAT: return parse_repeat(p);
    case TOKEN_IF: return parse_if(p);
    case TOKEN_RETURN: return parse_return(p);
    default: break;
    }
    if (assignment_ahead(p))
        return parse_assign(p);
    const Declaration *declaration = declaration_ahead(p);
    if (declaration && declaration->top_only) {
        parse_error(p, token->loc, "`%s` belongs outside of blocks", declaration->word);
        return node_new(p, NODE_EXPR, token->loc);
    }
    if (declaration) {
        take_token(p);
        return declaration->parse(p);
    }
    Node *node = node_new(p, NODE_EXPR, token->loc);
    node->a = parse_expression(p);
    node->loc = node->a->loc;
    if (!p->panic && node->a->kind == NODE_BINARY && node->a->op == TOKEN_EQUAL &&
        node->a->a->kind == NODE_NAME)
        parse_error(p, node->loc, "`==` compares; a value is named by `%.60s = …`",
                    node->a->a->name);
    if (!p->panic && token->kind == TOKEN_NAME && is_misspelt(node->a, peek_token(p)->kind))
        unexpected_word(p, token);
    return node;
}

NodeList parse_body(Parser *p)
{
    NodeList body = {0};
    if (!enter_level(p))
        return body;
    body = parse_lines(p, parse_statement);
    leave_level(p);
    return body;
}

static void parse_item(Parser *p, NodeList *items)
{
    const Declaration *declaration = assignment_ahead(p) ? NULL : declaration_ahead(p);
    if (!declaration) {
        Node *node = parse_statement(p);
        if (!p->panic)
            vec_push(p->arena, *items, node);
        return;
    }
    take_token(p);
    do {
        skip_newlines(p);
        Node *node = declaration->parse(p);
        if (!p->panic || node->kind == NODE_BLOCK) /* the name is known: fewer messages follow */
            vec_push(p->arena, *items, node);
    } while (declaration->many && !p->panic && accept_token(p, TOKEN_COMMA));
    if (declaration->many && !p->panic && peek_token(p)->kind == TOKEN_NAME)
        unexpected_token(p, "`,` or the end of the statement");
}

static Parser parser_of(Arena *arena, Diagnostics *diags, const Source *source)
{
    Parser p = {.arena = arena, .diags = diags, .first_message = diags->list.count};
    p.tokens = lex_source(arena, diags, source);
    return p;
}

Syntax *parse_tfg(Arena *arena, Diagnostics *diags, const Source *source)
{
    Parser parser = parser_of(arena, diags, source), *p = &parser;
    Syntax *syntax = ARENA_NEW(arena, Syntax);
    syntax->source = source;
    while (p->errors < MAX_MISTAKES) {
        while (peek_token(p)->kind == TOKEN_NEWLINE || peek_token(p)->kind == TOKEN_SEMICOLON)
            take_token(p);
        if (peek_token(p)->kind == TOKEN_END)
            break;
        if (peek_token(p)->kind == TOKEN_CLOSE_BODY)
            parse_error(p, peek_token(p)->loc, "this `}` closes nothing");
        else
            parse_item(p, &syntax->items);
        end_statement(p);
        if (p->panic) {
            recover(p);
            accept_token(p, TOKEN_CLOSE_BODY); /* or it would be met for ever */
        }
    }
    return syntax;
}

Node *parse_tfg_expression(Arena *arena, Diagnostics *diags, const Source *source)
{
    int before = diags->errors;
    Parser parser = parser_of(arena, diags, source), *p = &parser;
    Node *node = parse_expression(p);
    skip_newlines(p);
    if (!p->panic && peek_token(p)->kind != TOKEN_END)
        unexpected_token(p, "the end of the value");
    return diags->errors == before ? node : NULL;
}
