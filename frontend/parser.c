/* Statements and declarations, tokens in hand, recovery.
 *
 * After a mistake the parser is silent until the next line that starts a
 * statement, so that each mistake gives one message and the next is found. */
#include "frontend/parser.h"

#include <math.h>

/* ---- tokens in hand ---- */

const Token *peek(Parser *p)
{
    if (p->parens > 0)
        skip_newlines(p);
    return &p->tokens.data[p->at];
}

const Token *peek_at(const Parser *p, size_t n)
{
    size_t at = p->at + n;
    return &p->tokens.data[at < p->tokens.count ? at : p->tokens.count - 1];
}

const Token *take(Parser *p)
{
    const Token *token = peek(p);
    if (token->kind != TOKEN_END)
        p->at++;
    return token;
}

bool accept(Parser *p, TokenKind kind)
{
    if (peek(p)->kind != kind)
        return false;
    take(p);
    return true;
}

void skip_newlines(Parser *p)
{
    while (p->tokens.data[p->at].kind == TOKEN_NEWLINE)
        p->at++;
}

bool at_word(Parser *p, const char *word)
{
    const Token *token = peek(p);
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

void parse_error(Parser *p, Loc loc, const char *format, ...)
{
    if (!p->panic && p->errors++ < MAX_PARSE_ERRORS) {
        va_list args;
        va_start(args, format);
        diag_error(p->diags, loc, "%s", arena_vprintf(p->arena, format, args));
        va_end(args);
    }
    p->panic = true;
}

bool expect(Parser *p, TokenKind kind, const char *where)
{
    if (accept(p, kind))
        return true;
    const char *word = kind == TOKEN_NAME ? "a name" : arena_printf(p->arena, "`%s`", token_text(kind));
    parse_error(p, peek(p)->loc, "expected %s%s, not %s", word, where, token_seen(p, peek(p)));
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

void set_depth(Parser *p, Node *node)
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

bool enter(Parser *p)
{
    if (++p->depth <= MAX_DEPTH)
        return true;
    parse_error(p, p->tokens.data[p->at].loc, "this is nested too deeply");
    p->depth--;
    return false;
}

void leave(Parser *p) { p->depth--; }

/* To the end of the line, or before a brace that closes a body. */
static void recover(Parser *p)
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

/* ---- pieces of declarations ---- */

static Node *named(Parser *p, NodeKind kind, const char *where)
{
    const Token *token = peek(p);
    Node *node = node_new(p, kind, token->loc);
    node->name = "";
    if (expect(p, TOKEN_NAME, where))
        node->name = token->text;
    return node;
}

static Node *parse_dims(Parser *p)
{
    Node *list = node_new(p, NODE_LIST, peek(p)->loc);
    if (!expect(p, TOKEN_OPEN_LIST, " and the dimensions, as in `[B, S~]`"))
        return list;
    p->parens++;
    list->kids = parse_list(p, TOKEN_CLOSE_LIST);
    close_bracket(p, TOKEN_CLOSE_LIST, list->loc);
    list->loc = loc_from(p, list->loc);
    set_depth(p, list);
    return list;
}

/* NAME { "." (NAME | NUMBER | "*") }: of params and of what blocks compute */
static const char *parse_path(Parser *p)
{
    Text path = {0};
    do {
        const Token *token = take(p);
        if (path.length)
            text_put(&path, ".", 1);
        if (token->kind == TOKEN_NUMBER && token->number == floor(token->number))
            text_add(&path, "%.0f", token->number);
        else if (token->kind == TOKEN_STAR)
            text_put(&path, "*", 1);
        else if (token->text)
            text_add(&path, "%s", token->text);
        else
            parse_error(p, token->loc, "expected a part of a dotted name, not %s", token_seen(p, token));
    } while (!p->panic && accept(p, TOKEN_DOT));
    const char *text = arena_strdup(p->arena, path.data ? path.data : "");
    text_free(&path);
    return text;
}

/* { one line after another }, each by `parse_one`. */
static NodeList parse_lines(Parser *p, Node *(*parse_one)(Parser *))
{
    NodeList list = {0};
    Loc open = peek(p)->loc;
    if (!expect(p, TOKEN_OPEN_BODY, ""))
        return list;
    while (true) {
        while (peek(p)->kind == TOKEN_NEWLINE || peek(p)->kind == TOKEN_SEMICOLON)
            take(p);
        if (accept(p, TOKEN_CLOSE_BODY))
            return list;
        if (peek(p)->kind == TOKEN_END) {
            parse_error(p, peek(p)->loc, "expected `}`, not the end of file");
            if (p->errors <= MAX_PARSE_ERRORS)
                diag_note(p->diags, open, "to close this `{`");
            return list;
        }
        Node *node = parse_one(p);
        TokenKind next = p->tokens.data[p->at].kind;
        if (!p->panic && next != TOKEN_NEWLINE && next != TOKEN_SEMICOLON && next != TOKEN_CLOSE_BODY)
            parse_error(p, peek(p)->loc, "expected the end of the statement, not %s",
                        token_seen(p, peek(p)));
        if (p->panic)
            recover(p);
        vec_push(p->arena, list, node);
    }
}

static Node *parse_setting(Parser *p)
{
    Node *node = named(p, NODE_SETTING, " of a setting");
    if (expect(p, TOKEN_ASSIGN, ""))
        node->a = parse_expression(p);
    return node;
}

/* pattern = where from; or some of them under a condition. */
static Node *parse_map(Parser *p)
{
    if (peek(p)->kind == TOKEN_IF) {
        Node *choice = node_new(p, NODE_IF, take(p)->loc);
        if (!enter(p))
            return choice;
        choice->a = parse_expression(p);
        if (!p->panic)
            choice->body = parse_lines(p, parse_map);
        leave(p);
        return choice;
    }
    Node *node = node_new(p, NODE_MAP, peek(p)->loc);
    node->name = parse_path(p);
    node->loc = loc_from(p, node->loc);
    if (expect(p, TOKEN_ASSIGN, ""))
        node->a = parse_expression(p);
    return node;
}

/* ---- declarations: one word first ---- */

static Node *parse_model(Parser *p) { return named(p, NODE_MODEL, " of the model"); }

static Node *parse_use(Parser *p)
{
    const Token *token = peek(p);
    Node *node = node_new(p, NODE_USE, token->loc);
    node->name = "";
    if (token->kind != TOKEN_NAME && token->kind != TOKEN_STRING)
        parse_error(p, token->loc, "expected the name of a library or a \"file\", not %s",
                    token_seen(p, token));
    else
        node->name = take(p)->text;
    node->same = token->kind == TOKEN_STRING;
    return node;
}

static Node *parse_const(Parser *p)
{
    Node *node = named(p, NODE_CONST, " of a constant");
    if (expect(p, TOKEN_ASSIGN, " and the value of the constant"))
        node->a = parse_expression(p);
    return node;
}

static Node *parse_dim(Parser *p) { return named(p, NODE_DIM, " of a dimension"); }

static Node *parse_input(Parser *p)
{
    Node *node = named(p, NODE_INPUT, " of an input");
    if (!expect(p, TOKEN_COLON, " and the type of the input"))
        return node;
    const Token *type = peek(p);
    if (expect(p, TOKEN_NAME, " of an element type")) {
        node->text = type->text;
        node->b = node_new(p, NODE_NAME, type->loc);
        node->a = parse_dims(p);
    }
    return node;
}

static Node *parse_tensor(Parser *p, ParamRole role)
{
    Node *node = named(p, NODE_PARAM, role == PARAM_STATE ? " of a state" : " of a param");
    node->role = role;
    if (!expect(p, TOKEN_COLON, " and the dimensions"))
        return node;
    node->a = parse_dims(p);
    if (!p->panic && accept(p, TOKEN_ASSIGN))
        node->b = parse_expression(p);
    return node;
}

static Node *parse_param(Parser *p) { return parse_tensor(p, PARAM_TRAINED); }
static Node *parse_state(Parser *p) { return parse_tensor(p, PARAM_STATE); }

static Node *parse_frozen(Parser *p)
{
    if (at_word(p, "param"))
        take(p);
    else
        parse_error(p, peek(p)->loc, "expected `param` after `frozen`, not %s", token_seen(p, peek(p)));
    return parse_tensor(p, PARAM_FROZEN);
}

static Node *parse_block(Parser *p)
{
    Node *node = named(p, NODE_BLOCK, " of a block");
    if (p->panic)
        return node;
    node->kids = parse_args(p);
    for (size_t i = 0; i < node->kids.count; i++) {
        Node *arg = node->kids.data[i];
        if (arg->name)
            continue; /* with a default */
        if (arg->a->kind != NODE_NAME)
            parse_error(p, arg->loc, "a block's parameter is a name, or a name = its default");
        arg->name = arg->a->name ? arg->a->name : "";
        arg->a = NULL;
    }
    if (!p->panic)
        node->body = parse_body(p);
    return node;
}

static Node *parse_output(Parser *p)
{
    const Token *token = peek(p);
    Node *node = node_new(p, NODE_OUTPUT, token->loc);
    if (peek_at(p, 1)->kind == TOKEN_DOT || token->kind == TOKEN_STAR) {
        node->kind = NODE_EXPOSE;
        node->name = parse_path(p);
        node->loc = loc_from(p, node->loc);
        return node;
    }
    node = named(p, NODE_OUTPUT, " of an output");
    if (!p->panic && accept(p, TOKEN_ASSIGN))
        node->a = parse_expression(p);
    return node;
}

static Node *parse_update(Parser *p)
{
    Node *node = named(p, NODE_UPDATE, " of a state");
    if (expect(p, TOKEN_ASSIGN, " and its new value"))
        node->a = parse_expression(p);
    return node;
}

static Node *parse_train(Parser *p)
{
    Node *node = node_new(p, NODE_TRAIN, p->tokens.data[p->at - 1].loc);
    node->name = "train";
    node->kids = parse_lines(p, parse_setting);
    return node;
}

static Node *parse_weights(Parser *p)
{
    Node *node = node_new(p, NODE_WEIGHTS, p->tokens.data[p->at - 1].loc);
    node->name = "weights";
    node->kids = parse_lines(p, parse_map);
    return node;
}

/* Words that begin a declaration when a name (or, for the last two, a brace)
 * follows; elsewhere they are names like any other. */
static const struct Declaration {
    const char *word;
    Node *(*parse)(Parser *);
    bool braces, many, top_only;
} declarations[] = {
    {"model", parse_model, false, false, true},   {"use", parse_use, false, false, true},
    {"const", parse_const, false, true, true},    {"dim", parse_dim, false, true, true},
    {"input", parse_input, false, false, true},   {"param", parse_param, false, false, false},
    {"frozen", parse_frozen, false, false, false}, {"state", parse_state, false, false, false},
    {"block", parse_block, false, false, true},   {"output", parse_output, false, false, false},
    {"update", parse_update, false, false, false}, {"train", parse_train, true, false, true},
    {"weights", parse_weights, true, false, true},
};

static const struct Declaration *declaration_ahead(Parser *p)
{
    if (peek(p)->kind != TOKEN_NAME)
        return NULL;
    TokenKind next = peek_at(p, 1)->kind;
    for (size_t i = 0; i < sizeof declarations / sizeof *declarations; i++) {
        if (!at_word(p, declarations[i].word))
            continue;
        bool starts = declarations[i].braces
                          ? next == TOKEN_OPEN_BODY
                          : next == TOKEN_NAME || next == TOKEN_STRING || next == TOKEN_NUMBER ||
                                next == TOKEN_NEWLINE || next == TOKEN_END ||
                                (next == TOKEN_STAR && !strcmp(declarations[i].word, "output")) ||
                                (next >= TOKEN_AND && next != TOKEN_AS && next != TOKEN_AND &&
                                 next != TOKEN_OR);
        return starts ? &declarations[i] : NULL;
    }
    return NULL;
}

/* ---- statements ---- */

static Node *parse_repeat(Parser *p)
{
    Node *node = node_new(p, NODE_REPEAT, take(p)->loc);
    node->a = parse_expression(p);
    if (!p->panic && accept(p, TOKEN_AS)) {
        const Token *label = peek(p);
        if (expect(p, TOKEN_NAME, " for what is repeated"))
            node->label = label->text;
    }
    if (!p->panic)
        node->body = parse_body(p);
    return node;
}

static Node *parse_if(Parser *p)
{
    Node *node = node_new(p, NODE_IF, take(p)->loc);
    if (!enter(p))
        return node;
    node->a = parse_expression(p);
    if (!p->panic)
        node->body = parse_body(p);
    size_t before = p->at;
    skip_newlines(p);
    if (p->panic || peek(p)->kind != TOKEN_ELSE)
        p->at = before;
    else {
        take(p);
        if (peek(p)->kind == TOKEN_IF)
            vec_push(p->arena, node->otherwise, parse_if(p));
        else
            node->otherwise = parse_body(p);
    }
    leave(p);
    return node;
}

static Node *parse_return(Parser *p)
{
    Node *node = node_new(p, NODE_RETURN, take(p)->loc);
    do
        vec_push(p->arena, node->kids, parse_expression(p));
    while (!p->panic && accept(p, TOKEN_COMMA));
    return node;
}

/* NAME {"," NAME} "=" */
static bool assignment_ahead(const Parser *p)
{
    for (size_t n = 0; peek_at(p, n)->kind == TOKEN_NAME; n += 2)
        if (peek_at(p, n + 1)->kind != TOKEN_COMMA)
            return peek_at(p, n + 1)->kind == TOKEN_ASSIGN;
    return false;
}

static Node *parse_assign(Parser *p)
{
    Node *node = node_new(p, NODE_ASSIGN, peek(p)->loc);
    do
        vec_push(p->arena, node->kids, named(p, NODE_NAME, ""));
    while (accept(p, TOKEN_COMMA));
    node->name = node->kids.data[0]->name;
    expect(p, TOKEN_ASSIGN, "");
    skip_newlines(p);
    node->a = parse_expression(p);
    return node;
}

static Node *parse_statement(Parser *p)
{
    const Token *token = peek(p);
    switch (token->kind) {
    case TOKEN_REPEAT: return parse_repeat(p);
    case TOKEN_IF: return parse_if(p);
    case TOKEN_RETURN: return parse_return(p);
    default: break;
    }
    if (assignment_ahead(p))
        return parse_assign(p);
    const struct Declaration *declaration = declaration_ahead(p);
    if (declaration && declaration->top_only) {
        parse_error(p, token->loc, "`%s` belongs outside of blocks", declaration->word);
        return node_new(p, NODE_EXPR, token->loc);
    }
    if (declaration) {
        take(p);
        return declaration->parse(p);
    }
    Node *node = node_new(p, NODE_EXPR, token->loc);
    node->a = parse_expression(p);
    node->loc = node->a->loc;
    const Token *next = peek(p);
    if (!p->panic && node->a->kind == NODE_NAME && next->kind == TOKEN_NAME) {
        const char *words[sizeof declarations / sizeof *declarations];
        size_t n = 0;
        for (; n < sizeof declarations / sizeof *declarations; n++)
            words[n] = declarations[n].word;
        const char *near = text_nearest(node->a->name, words, n);
        parse_error(p, node->loc, "`%.60s` begins no statement%s", node->a->name,
                    near ? arena_printf(p->arena, "; did you mean `%s`?", near) : "");
    }
    return node;
}

NodeList parse_body(Parser *p)
{
    NodeList body = {0};
    if (!enter(p))
        return body;
    body = parse_lines(p, parse_statement);
    leave(p);
    return body;
}

static void parse_item(Parser *p, NodeList *items)
{
    const struct Declaration *declaration = assignment_ahead(p) ? NULL : declaration_ahead(p);
    if (!declaration) {
        Node *node = parse_statement(p);
        if (!p->panic)
            vec_push(p->arena, *items, node);
        return;
    }
    take(p);
    do {
        skip_newlines(p);
        Node *node = declaration->parse(p);
        if (!p->panic || node->kind == NODE_BLOCK) /* the name is known: fewer messages follow */
            vec_push(p->arena, *items, node);
    } while (declaration->many && !p->panic && accept(p, TOKEN_COMMA));
}

Syntax *parse_tfg(Arena *arena, Diagnostics *diags, const Source *source)
{
    Parser parser = {.arena = arena, .diags = diags, .tokens = lex(arena, diags, source)}, *p = &parser;
    Syntax *syntax = ARENA_NEW(arena, Syntax);
    syntax->source = source;
    while (p->errors < MAX_PARSE_ERRORS) {
        while (peek(p)->kind == TOKEN_NEWLINE || peek(p)->kind == TOKEN_SEMICOLON)
            take(p);
        if (peek(p)->kind == TOKEN_END)
            break;
        parse_item(p, &syntax->items);
        TokenKind next = p->tokens.data[p->at].kind;
        if (!p->panic && next != TOKEN_NEWLINE && next != TOKEN_SEMICOLON && next != TOKEN_END)
            parse_error(p, peek(p)->loc, "expected the end of the statement, not %s",
                        token_seen(p, peek(p)));
        if (p->panic) {
            recover(p);
            accept(p, TOKEN_CLOSE_BODY); /* or it would be met for ever */
        }
    }
    return syntax;
}

Node *parse_tfg_expression(Arena *arena, Diagnostics *diags, const Source *source)
{
    int before = diags->errors;
    Parser parser = {.arena = arena, .diags = diags, .tokens = lex(arena, diags, source)}, *p = &parser;
    Node *node = parse_expression(p);
    skip_newlines(p);
    if (!p->panic && peek(p)->kind != TOKEN_END)
        parse_error(p, peek(p)->loc, "expected the end of the value, not %s", token_seen(p, peek(p)));
    return diags->errors == before ? node : NULL;
}
