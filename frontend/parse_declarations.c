/* Declarations: statements that begin with a word of their own. */
#include "frontend/parser.h"

#include <math.h>

/* ---- pieces of declarations ---- */

Node *named_node(Parser *p, NodeKind kind, const char *where)
{
    const Token *token = peek_token(p);
    Node *node = node_new(p, kind, token->loc);
    node->name = "";
    if (expect_token(p, TOKEN_NAME, where))
        node->name = token->text;
    return node;
}

static Node *parse_dims(Parser *p)
{
    Node *list = node_new(p, NODE_LIST, peek_token(p)->loc);
    if (!expect_token(p, TOKEN_OPEN_LIST, " and the dimensions, as in `[B, S~]`"))
        return list;
    p->parens++;
    list->kids = parse_list(p, TOKEN_CLOSE_LIST);
    close_bracket(p, TOKEN_CLOSE_LIST, list->loc);
    list->loc = loc_from(p, list->loc);
    set_node_depth(p, list);
    return list;
}

/* NAME { "." (NAME | NUMBER | "*") }: of params and of what blocks compute */
static const char *parse_path(Parser *p)
{
    Text path = {0};
    do {
        const Token *token = take_token(p);
        if (path.length)
            text_put(&path, ".", 1);
        if (token->kind == TOKEN_NUMBER && token->number == floor(token->number))
            text_add(&path, "%.0f", token->number);
        else if (token->kind == TOKEN_STAR)
            text_put(&path, "*", 1);
        else if (token->text)
            text_add(&path, "%s", token->text);
        else
            parse_error(p, token->loc, "expected a part of a dotted name, not %s",
                        token_seen(p, token));
    } while (!p->panic && accept_token(p, TOKEN_DOT));
    return text_keep(p->arena, &path);
}

NodeList parse_lines(Parser *p, Node *(*parse_one)(Parser *))
{
    NodeList list = {0};
    Loc open = peek_token(p)->loc;
    if (!expect_token(p, TOKEN_OPEN_BODY, ""))
        return list;
    while (true) {
        while (peek_token(p)->kind == TOKEN_NEWLINE || peek_token(p)->kind == TOKEN_SEMICOLON)
            take_token(p);
        if (accept_token(p, TOKEN_CLOSE_BODY))
            return list;
        if (peek_token(p)->kind == TOKEN_END) {
            if (parse_error(p, peek_token(p)->loc, "expected `}`, not the end of file"))
                diag_note(p->diags, open, "to close this `{`");
            return list;
        }
        Node *node = parse_one(p);
        if (p->tokens.data[p->at].kind != TOKEN_CLOSE_BODY)
            end_statement(p);
        if (p->panic)
            recover(p);
        vec_push(p->arena, list, node);
    }
}

static Node *parse_setting(Parser *p)
{
    Node *node = named_node(p, NODE_SETTING, " of a setting");
    if (expect_token(p, TOKEN_ASSIGN, ""))
        node->a = parse_expression(p);
    return node;
}

/* pattern = where from; or some of them under a condition. */
static Node *parse_map(Parser *p)
{
    if (peek_token(p)->kind == TOKEN_IF) {
        Node *choice = node_new(p, NODE_IF, take_token(p)->loc);
        if (!enter_level(p))
            return choice;
        choice->a = parse_expression(p);
        if (!p->panic)
            choice->body = parse_lines(p, parse_map);
        leave_level(p);
        return choice;
    }
    Node *node = node_new(p, NODE_MAP, peek_token(p)->loc);
    node->name = parse_path(p);
    node->loc = loc_from(p, node->loc);
    if (expect_token(p, TOKEN_ASSIGN, ""))
        node->a = parse_expression(p);
    return node;
}

/* ---- declarations: one word first ---- */

static Node *parse_model(Parser *p) { return named_node(p, NODE_MODEL, " of the model"); }

static Node *parse_use(Parser *p)
{
    const Token *token = peek_token(p);
    Node *node = node_new(p, NODE_USE, token->loc);
    node->name = "";
    if (token->kind != TOKEN_NAME && token->kind != TOKEN_STRING)
        unexpected_token(p, "the name of a library or a \"file\"");
    else
        node->name = take_token(p)->text;
    if (!p->panic && peek_token(p)->kind == TOKEN_COMMA)
        parse_error(p, peek_token(p)->loc, "each library is read by a `use` of its own");
    node->same = token->kind == TOKEN_STRING;
    return node;
}

/* NAME = expression. `of`, `what`: behind what is expected, for messages. */
static Node *assigned_node(Parser *p, NodeKind kind, const char *of, const char *what)
{
    Node *node = named_node(p, kind, of);
    if (expect_token(p, TOKEN_ASSIGN, what))
        node->a = parse_expression(p);
    return node;
}

static Node *parse_const(Parser *p)
{
    return assigned_node(p, NODE_CONST, " of a constant", " and the value of the constant");
}

static Node *parse_dim(Parser *p)
{
    Node *node = named_node(p, NODE_DIM, " of a dimension");
    if (!p->panic && accept_token(p, TOKEN_ASSIGN))
        node->a = parse_expression(p);
    return node;
}

static Node *parse_input(Parser *p)
{
    Node *node = named_node(p, NODE_INPUT, " of an input");
    if (!expect_token(p, TOKEN_COLON, " and the type of the input"))
        return node;
    const Token *type = peek_token(p);
    if (expect_token(p, TOKEN_NAME, " of an element type, as in `token[B, T~]`")) {
        node->text = type->text;
        node->b = node_new(p, NODE_NAME, type->loc);
        node->a = parse_dims(p);
    }
    if (!p->panic && accept_token(p, TOKEN_ASSIGN))
        vec_push(p->arena, node->kids, parse_expression(p));
    return node;
}

static Node *parse_vocab(Parser *p)
{
    Node *node = named_node(p, NODE_VOCAB, " of an input");
    TokenKind next = peek_token(p)->kind;
    if (next == TOKEN_OPEN || next == TOKEN_DOT)
        parse_error(p, node->loc,
                    "a vocabulary belongs to an input, given by its name: `vocab src = words`; "
                    "`next(src)` has that of `src`");
    else if (expect_token(p, TOKEN_ASSIGN,
                          " and `words`, `words(\"FILE\")`, `shared` or `own(\"auto:8000\")`"))
        node->a = parse_expression(p);
    return node;
}

static Node *parse_tensor(Parser *p, ParamRole role)
{
    Node *node = named_node(p, NODE_PARAM, role == PARAM_STATE ? " of a state" : " of a param");
    node->role = role;
    if (!expect_token(p, TOKEN_COLON, " and the dimensions"))
        return node;
    node->a = parse_dims(p);
    if (!p->panic && accept_token(p, TOKEN_ASSIGN))
        node->b = parse_expression(p);
    return node;
}

static Node *parse_param(Parser *p) { return parse_tensor(p, PARAM_TRAINED); }
static Node *parse_state(Parser *p) { return parse_tensor(p, PARAM_STATE); }

static Node *parse_frozen(Parser *p)
{
    if (at_word(p, "param"))
        take_token(p);
    else
        unexpected_token(p, "`param` after `frozen`");
    return parse_tensor(p, PARAM_FROZEN);
}

static Node *parse_block(Parser *p)
{
    Node *node = named_node(p, NODE_BLOCK, " of a block");
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
    for (size_t i = 0; i < node->kids.count; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(node->kids.data[i]->name, node->kids.data[k]->name))
                parse_error(p, node->kids.data[i]->loc, "`%s` has the parameter `%s` already",
                            node->name, node->kids.data[i]->name);
    p->in_block = true;
    if (!p->panic)
        node->body = parse_body(p);
    p->in_block = false;
    return node;
}

static Node *parse_output(Parser *p)
{
    const Token *token = peek_token(p);
    Node *node = node_new(p, NODE_OUTPUT, token->loc);
    if (peek_ahead(p, 1)->kind == TOKEN_DOT || token->kind == TOKEN_STAR) {
        node->kind = NODE_EXPOSE;
        node->name = parse_path(p);
        node->loc = loc_from(p, node->loc);
        return node;
    }
    node = named_node(p, NODE_OUTPUT, " of an output");
    if (!p->panic && accept_token(p, TOKEN_ASSIGN))
        node->a = parse_expression(p);
    else if (!p->panic &&
             (peek_token(p)->kind == TOKEN_OPEN_LIST || peek_token(p)->kind == TOKEN_OPEN))
        parse_error(p, token->loc, "an output has a name of its own: `output y = …`");
    return node;
}

static Node *parse_predict(Parser *p)
{
    if (p->in_block)
        parse_error(p, p->tokens.data[p->at - 1].loc,
                    "`predict` belongs outside of blocks: `return` the value, and predict what the "
                    "call gives");
    Node *node = assigned_node(p, NODE_OUTPUT, " of a prediction", " and what is predicted");
    node->same = true;
    return node;
}

static Node *parse_update(Parser *p)
{
    return assigned_node(p, NODE_UPDATE, " of a state", " and its new value");
}

static Node *parse_merge(Parser *p)
{
    return assigned_node(p, NODE_MERGE, " of a param", " and what it becomes");
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
static const Declaration declarations[] = {
    /* clang-format off */
    {.word = "model",   .parse = parse_model,   .top_only = true},
    {.word = "use",     .parse = parse_use,     .top_only = true},
    {.word = "const",   .parse = parse_const,   .top_only = true, .many = true},
    {.word = "dim",     .parse = parse_dim,     .top_only = true, .many = true},
    {.word = "input",   .parse = parse_input,   .top_only = true},
    {.word = "vocab",   .parse = parse_vocab,   .top_only = true, .named = true},
    {.word = "param",   .parse = parse_param},
    {.word = "frozen",  .parse = parse_frozen},
    {.word = "state",   .parse = parse_state},
    {.word = "block",   .parse = parse_block,   .top_only = true},
    {.word = "output",  .parse = parse_output},
    {.word = "predict", .parse = parse_predict, .named = true},
    {.word = "update",  .parse = parse_update},
    {.word = "merge",   .parse = parse_merge},
    {.word = "train",   .parse = parse_train,   .top_only = true, .braces = true},
    {.word = "weights", .parse = parse_weights, .top_only = true, .braces = true},
    /* clang-format on */
};

/* Whether the token behind the word, which is no `{`, makes it begin a declaration. */
static bool starts_declaration(const Declaration *declaration, TokenKind next)
{
    if (declaration->named)
        return next == TOKEN_NAME;
    bool is_value = next == TOKEN_NAME || next == TOKEN_STRING || next == TOKEN_NUMBER;
    bool is_path = next == TOKEN_STAR && !strcmp(declaration->word, "output");
    bool is_word = next >= TOKEN_AND && next != TOKEN_AS && next != TOKEN_AND && next != TOKEN_OR;
    return is_value || is_path || is_word || next == TOKEN_NEWLINE || next == TOKEN_END;
}

const Declaration *declaration_ahead(Parser *p)
{
    if (peek_token(p)->kind != TOKEN_NAME)
        return NULL;
    TokenKind next = peek_ahead(p, 1)->kind;
    for (size_t i = 0; i < sizeof declarations / sizeof *declarations; i++) {
        if (!at_word(p, declarations[i].word))
            continue;
        bool starts = declarations[i].braces ? next == TOKEN_OPEN_BODY
                                             : starts_declaration(&declarations[i], next);
        return starts ? &declarations[i] : NULL;
    }
    return NULL;
}

int declaration_words(const char **words)
{
    for (size_t i = 0; words && i < sizeof declarations / sizeof *declarations; i++)
        words[i] = declarations[i].word;
    return (int)(sizeof declarations / sizeof *declarations);
}

const char *suggest_statement(Parser *p, const char *word)
{
    enum { N = sizeof declarations / sizeof *declarations };
    const char *words[N + 4] = {"repeat", "if", "else", "return"};
    for (size_t i = 0; i < N; i++) {
        words[4 + i] = declarations[i].word;
        if (!strcmp(word, declarations[i].word))
            return declarations[i].braces ? " without a `{` behind it"
                                          : " without a name behind it";
    }
    return text_suggest(p->arena, "`", word, words, N + 4);
}
