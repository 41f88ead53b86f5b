/* Expressions, by precedence from loosest to tightest:
 *   or, and, not, comparisons, + -, * / % @, unary -, ^, postfix () [] .axis */
#include "frontend/parser.h"

static Node *parse_or(Parser *p);

static Node *binary(Parser *p, TokenKind op, Node *a, Node *b)
{
    Node *node = node_new(p, NODE_BINARY, loc_from(p, a->loc));
    node->op = op;
    node->a = a;
    node->b = b;
    set_node_depth(p, node);
    return node;
}

static Node *unary(Parser *p, TokenKind op, Loc start, Node *a)
{
    Node *node = node_new(p, NODE_UNARY, loc_from(p, start));
    node->op = op;
    node->a = a;
    set_node_depth(p, node);
    return node;
}

NodeList parse_list(Parser *p, TokenKind close)
{
    NodeList list = {0};
    while (!p->panic && peek_token(p)->kind != close) {
        Node *item = parse_expression(p);
        if (accept_token(p, TOKEN_TILDE)) {
            Node *ragged = node_new(p, NODE_RAGGED, loc_from(p, item->loc));
            ragged->a = item;
            set_node_depth(p, ragged);
            item = ragged;
        }
        vec_push(p->arena, list, item);
        if (!accept_token(p, TOKEN_COMMA))
            break;
    }
    return list;
}

void close_bracket(Parser *p, TokenKind close, Loc open)
{
    if (p->panic)
        return;
    const Token *seen = peek_token(p);
    if (seen->kind == close) {
        p->parens--;
        p->at++; /* not take_token(): a newline after the bracket counts again */
        return;
    }
    bool new_line = p->at && seen[-1].kind == TOKEN_NEWLINE;
    if (new_line || seen->kind == TOKEN_END) { /* forgotten; the next line is another matter */
        parse_error(p, open, "this `%s` is not closed", close == TOKEN_CLOSE ? "(" : "[");
        p->at -= new_line;
        return;
    }
    if (unexpected_token(p, arena_printf(p->arena, "`%s`", token_text(close))) &&
        seen->loc.line != open.line)
        diag_note(p->diags, open, "to close this `%s`", close == TOKEN_CLOSE ? "(" : "[");
}

static Node *parse_arg(Parser *p)
{
    Node *arg = node_new(p, NODE_ARG, peek_token(p)->loc);
    if (peek_token(p)->kind == TOKEN_NAME && peek_ahead(p, 1)->kind == TOKEN_ASSIGN) {
        arg->name = take_token(p)->text;
        take_token(p);
    }
    arg->a = parse_expression(p);
    arg->loc = loc_from(p, arg->loc);
    set_node_depth(p, arg);
    return arg;
}

NodeList parse_args(Parser *p)
{
    NodeList args = {0};
    Loc open = peek_token(p)->loc;
    if (!expect_token(p, TOKEN_OPEN, ""))
        return args;
    p->parens++;
    while (!p->panic && peek_token(p)->kind != TOKEN_CLOSE) {
        vec_push(p->arena, args, parse_arg(p));
        if (!accept_token(p, TOKEN_COMMA))
            break;
    }
    close_bracket(p, TOKEN_CLOSE, open);
    return args;
}

/* NAME ["as" ["same"] LABEL] "(" arguments ")" */
static Node *parse_call(Parser *p)
{
    const Token *name = take_token(p);
    Node *call = node_new(p, NODE_CALL, name->loc);
    call->name = name->text;
    if (accept_token(p, TOKEN_AS)) {
        if (at_word(p, "same") && peek_ahead(p, 1)->kind == TOKEN_NAME) {
            take_token(p);
            call->same = true;
        }
        call->label = take_token(p)->text;
    }
    call->kids = parse_args(p);
    call->loc = loc_from(p, call->loc);
    set_node_depth(p, call);
    return call;
}

static bool call_ahead(Parser *p)
{
    size_t n = 1;
    if (peek_ahead(p, 1)->kind == TOKEN_AS) {
        n = 2;
        if (peek_ahead(p, 2)->kind == TOKEN_NAME && !strcmp(peek_ahead(p, 2)->text, "same") &&
            peek_ahead(p, 3)->kind == TOKEN_NAME)
            n = 3;
        if (peek_ahead(p, n)->kind != TOKEN_NAME)
            return false;
        n++;
    }
    return peek_ahead(p, n)->kind == TOKEN_OPEN;
}

static Node *parse_bracketed(Parser *p)
{
    Loc open = take_token(p)->loc;
    bool is_list = p->tokens.data[p->at - 1].kind == TOKEN_OPEN_LIST;
    p->parens++;
    Node *node;
    if (is_list) {
        node = node_new(p, NODE_LIST, open);
        node->kids = parse_list(p, TOKEN_CLOSE_LIST);
    } else
        node = parse_expression(p);
    close_bracket(p, is_list ? TOKEN_CLOSE_LIST : TOKEN_CLOSE, open);
    node->loc = loc_from(p, open);
    set_node_depth(p, node);
    return node;
}

static Node *parse_primary(Parser *p)
{
    const Token *token = peek_token(p);
    Node *node = node_new(p, NODE_NUMBER, token->loc);
    switch (token->kind) {
    case TOKEN_NAME:
        if (call_ahead(p))
            return parse_call(p);
        node->kind = NODE_NAME;
        node->name = take_token(p)->text;
        return node;
    case TOKEN_NUMBER: node->number = take_token(p)->number; return node;
    case TOKEN_STRING:
        node->kind = NODE_STRING;
        node->name = take_token(p)->text;
        return node;
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        node->kind = NODE_BOOL;
        node->number = take_token(p)->kind == TOKEN_TRUE;
        return node;
    case TOKEN_OPEN:
    case TOKEN_OPEN_LIST: return parse_bracketed(p);
    default: unexpected_token(p, "an expression"); return node;
    }
}

/* x.-1: how long that axis is. */
static Node *parse_axis(Parser *p, Node *of)
{
    take_token(p);
    bool negative = accept_token(p, TOKEN_MINUS);
    const Token *token = peek_token(p);
    Node *node = node_new(p, NODE_AXIS, of->loc);
    node->a = of;
    if (token->kind == TOKEN_NUMBER) {
        take_token(p);
        node->number = negative ? -token->number : token->number;
    } else if (token->kind == TOKEN_NAME)
        parse_error(
            p, token->loc,
            "after the dot stands the number of an axis; a function is called as `%.60s(x)`",
            token->text);
    else
        parse_error(p, token->loc,
                    of->kind == NODE_NUMBER
                        ? "a digit stands after the dot of a number: `1.0`"
                        : "expected the number of an axis after the dot (`x.-1` is how long "
                          "the last one is), not %s",
                    token_seen(p, token));
    node->loc = loc_from(p, of->loc);
    set_node_depth(p, node);
    return node;
}

/* Between [ and ]; parts of axes are written so elsewhere: x[:, 0], x[1:3]. */
static Node *parse_index(Parser *p)
{
    TokenKind kind = peek_token(p)->kind;
    bool part = kind == TOKEN_COLON || kind == TOKEN_DOT;
    Node *index = part ? node_new(p, NODE_NUMBER, peek_token(p)->loc) : parse_expression(p);
    kind = peek_token(p)->kind;
    if (kind == TOKEN_COLON || kind == TOKEN_COMMA || part)
        parse_error(p, peek_token(p)->loc,
                    "`[…]` looks up rows of a table; a part of an axis is "
                    "`slice(x, axis, start, size)`");
    return index;
}

static Node *parse_postfix(Parser *p)
{
    Node *node = parse_primary(p);
    while (!p->panic) {
        const Token *token = peek_token(p);
        if (token->kind == TOKEN_DOT)
            node = parse_axis(p, node);
        else if (token->kind == TOKEN_OPEN_LIST) {
            take_token(p);
            p->parens++;
            Node *index = node_new(p, NODE_INDEX, node->loc);
            index->a = node;
            index->b = parse_index(p);
            close_bracket(p, TOKEN_CLOSE_LIST, token->loc);
            index->loc = loc_from(p, node->loc);
            set_node_depth(p, index);
            node = index;
        } else
            break;
    }
    return node;
}

static Node *parse_unary(Parser *p);
static void take_operator(Parser *p);

static Node *parse_power(Parser *p)
{
    Node *base = parse_postfix(p);
    if (p->panic || peek_token(p)->kind != TOKEN_CARET || !enter_level(p))
        return base;
    take_operator(p);
    base = binary(p, TOKEN_CARET, base, parse_unary(p)); /* right-associative, may have a sign */
    leave_level(p);
    return base;
}

/* Any number of operators in front of what `below` parses. */
static Node *parse_prefix(Parser *p, TokenKind kind, Node *(*below)(Parser *p))
{
    if (peek_token(p)->kind != kind)
        return below(p);
    Loc start = take_token(p)->loc;
    if (!enter_level(p))
        return node_new(p, NODE_NUMBER, start);
    Node *node = unary(p, kind, start, parse_prefix(p, kind, below));
    leave_level(p);
    return node;
}

static Node *parse_unary(Parser *p) { return parse_prefix(p, TOKEN_MINUS, parse_power); }

/* Takes an operator, and the line break after it unless the next line begins a statement. */
static void take_operator(Parser *p)
{
    const Token *operator= take_token(p);
    size_t after = p->at;
    skip_newlines(p);
    TokenKind kind = p->tokens.data[p->at].kind;
    bool statement = assignment_ahead(p) || declaration_ahead(p) || kind == TOKEN_RETURN ||
                     kind == TOKEN_REPEAT || kind == TOKEN_IF || kind == TOKEN_CLOSE_BODY ||
                     kind == TOKEN_END;
    if (p->at == after || !statement || p->parens > 0)
        return;
    p->at = after;
    parse_error(p, operator->loc, "an expression is missing after `%s`",
                token_text(operator->kind));
}

/* The left-associative levels. */
static Node *parse_level(Parser *p, Node *(*next)(Parser *), const TokenKind *kinds, size_t n)
{
    Node *left = next(p);
    while (!p->panic) {
        TokenKind kind = peek_token(p)->kind;
        size_t i = 0;
        while (i < n && kinds[i] != kind)
            i++;
        if (i == n)
            break;
        take_operator(p);
        left = binary(p, kind, left, next(p));
    }
    return left;
}

static Node *parse_product(Parser *p)
{
    static const TokenKind kinds[] = {TOKEN_STAR, TOKEN_SLASH, TOKEN_PERCENT, TOKEN_AT};
    return parse_level(p, parse_unary, kinds, 4);
}

static Node *parse_sum(Parser *p)
{
    static const TokenKind kinds[] = {TOKEN_PLUS, TOKEN_MINUS};
    return parse_level(p, parse_product, kinds, 2);
}

static Node *parse_comparison(Parser *p)
{
    Node *left = parse_sum(p);
    TokenKind kind = peek_token(p)->kind;
    if (p->panic || kind < TOKEN_EQUAL || kind > TOKEN_GREATER_EQUAL)
        return left;
    take_operator(p);
    left = binary(p, kind, left, parse_sum(p));
    const Token *again = peek_token(p);
    if (!p->panic && again->kind >= TOKEN_EQUAL && again->kind <= TOKEN_GREATER_EQUAL)
        parse_error(p, again->loc, "comparisons do not chain: write `a < b and b < c`");
    return left;
}

static Node *parse_not(Parser *p) { return parse_prefix(p, TOKEN_NOT, parse_comparison); }

static Node *parse_and(Parser *p)
{
    static const TokenKind kinds[] = {TOKEN_AND};
    return parse_level(p, parse_not, kinds, 1);
}

static Node *parse_or(Parser *p)
{
    static const TokenKind kinds[] = {TOKEN_OR};
    return parse_level(p, parse_and, kinds, 1);
}

Node *parse_expression(Parser *p)
{
    if (!enter_level(p))
        return node_new(p, NODE_NUMBER, peek_token(p)->loc);
    Node *node = parse_or(p);
    leave_level(p);
    return node;
}
