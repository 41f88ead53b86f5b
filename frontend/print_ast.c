/* Canonical .tfg text of a tree: for dumps, for messages, for a copy of a model
 * that stands alone. */
#include "frontend/ast.h"

#include <math.h>

/* How tightly each kind of expression binds, for parentheses. */
static int precedence(const Node *node)
{
    if (node->kind == NODE_BINARY)
        switch (node->op) {
        case TOKEN_OR: return 1;
        case TOKEN_AND: return 2;
        case TOKEN_PLUS:
        case TOKEN_MINUS: return 5;
        case TOKEN_STAR:
        case TOKEN_SLASH:
        case TOKEN_PERCENT:
        case TOKEN_AT: return 6;
        case TOKEN_CARET: return 8;
        default: return 4;
        }
    if (node->kind == NODE_UNARY)
        return node->op == TOKEN_NOT ? 3 : 7;
    return 9;
}

void print_number(double number, Text *out)
{
    if (fabs(number) < 1e15 && number == floor(number))
        text_add(out, "%.0f", number);
    else
        text_number(out, number);
}

static void print_within(const Node *node, int level, Text *out)
{
    bool wrap = precedence(node) < level;
    if (wrap)
        text_add(out, "(");
    print_expression(node, out);
    if (wrap)
        text_add(out, ")");
}

static void print_list(NodeList list, Text *out)
{
    for (size_t i = 0; i < list.count; i++) {
        if (i)
            text_add(out, ", ");
        print_expression(list.data[i], out);
    }
}

static void print_binary(const Node *node, Text *out)
{
    int level = precedence(node);
    bool right = node->op == TOKEN_CARET;
    print_within(node->a, right || level == 4 ? level + 1 : level, out);
    text_add(out, " %s ", token_text(node->op));
    print_within(node->b, right ? 7 : level + 1, out);
}

static void print_call(const Node *node, Text *out)
{
    text_add(out, "%s", node->name);
    if (node->label)
        text_add(out, " as %s%s", node->same ? "same " : "", node->label);
    text_add(out, "(");
    print_list(node->kids, out);
    text_add(out, ")");
}

void print_expression(const Node *node, Text *out)
{
    switch (node->kind) {
    case NODE_NUMBER: print_number(node->number, out); break;
    case NODE_STRING: text_quote(out, node->name); break;
    case NODE_BOOL: text_add(out, node->number ? "true" : "false"); break;
    case NODE_NAME: text_add(out, "%s", node->name); break;
    case NODE_LIST:
        text_add(out, "[");
        print_list(node->kids, out);
        text_add(out, "]");
        break;
    case NODE_UNARY:
        text_add(out, node->op == TOKEN_NOT ? "not " : "-");
        print_within(node->a, precedence(node), out);
        break;
    case NODE_BINARY: print_binary(node, out); break;
    case NODE_CALL: print_call(node, out); break;
    case NODE_ARG:
        if (node->name)
            text_add(out, node->a ? "%s = " : "%s", node->name);
        if (node->a)
            print_expression(node->a, out);
        break;
    case NODE_INDEX:
        print_within(node->a, 9, out);
        text_add(out, "[");
        print_expression(node->b, out);
        text_add(out, "]");
        break;
    case NODE_AXIS:
        print_within(node->a, 9, out);
        text_add(out, ".");
        print_number(node->number, out);
        break;
    case NODE_RAGGED:
        print_within(node->a, 9, out);
        text_add(out, "~");
        break;
    default: text_add(out, "?"); break;
    }
}

const char *expression_text(Arena *arena, const Node *node)
{
    enum { LONGEST = 60 };
    Text text = {0};
    print_expression(node, &text);
    const bool is_short = text.length <= LONGEST;
    const char *whole = text_keep(arena, &text);
    return is_short ? whole : arena_printf(arena, "%.*s…", LONGEST - 1, whole);
}

static void print_body(NodeList body, int indent, Text *out)
{
    text_add(out, "{\n");
    for (size_t i = 0; i < body.count; i++)
        print_item(body.data[i], indent + 1, out);
    text_add(out, "%*s}", 2 * indent, "");
}

static void print_value(const Node *value, Text *out)
{
    if (!value)
        return;
    text_add(out, " = ");
    print_expression(value, out);
}

static void print_if(const Node *node, int indent, Text *out)
{
    text_add(out, "if ");
    print_expression(node->a, out);
    text_add(out, " ");
    print_body(node->body, indent, out);
    if (!node->otherwise.count)
        return;
    text_add(out, " else ");
    if (node->otherwise.count == 1 && node->otherwise.data[0]->kind == NODE_IF)
        print_if(node->otherwise.data[0], indent, out);
    else
        print_body(node->otherwise, indent, out);
}

static void print_param(const Node *node, Text *out)
{
    static const char *const words[] = {
        [PARAM_TRAINED] = "param", [PARAM_FROZEN] = "frozen param", [PARAM_STATE] = "state"};
    text_add(out, "%s %s : ", words[node->role], node->name);
    print_expression(node->a, out);
    print_value(node->b, out);
}

static void print_input(const Node *node, Text *out)
{
    text_add(out, "input %s : %s", node->name, node->text);
    print_expression(node->a, out);
    print_value(node->kids.count ? node->kids.data[0] : NULL, out);
}

/* `word` NAME = value */
static void print_named(const char *word, const Node *node, Text *out)
{
    text_add(out, "%s%s", word, node->name);
    print_value(node->a, out);
}

static void print_use(const Node *node, Text *out)
{
    text_add(out, "use ");
    if (node->same)
        text_quote(out, node->name);
    else
        text_add(out, "%s", node->name);
}

static void print_repeat(const Node *node, int indent, Text *out)
{
    text_add(out, "repeat ");
    print_expression(node->a, out);
    text_add(out, node->label ? " as %s " : " ", node->label);
    print_body(node->body, indent, out);
}

static void print_block(const Node *node, int indent, Text *out)
{
    text_add(out, "block %s(", node->name);
    print_list(node->kids, out);
    text_add(out, ") ");
    print_body(node->body, indent, out);
}

void print_item(const Node *node, int indent, Text *out)
{
    text_add(out, "%*s", 2 * indent, "");
    switch (node->kind) {
    case NODE_ASSIGN:
        print_list(node->kids, out);
        print_value(node->a, out);
        break;
    case NODE_RETURN:
        text_add(out, "return ");
        print_list(node->kids, out);
        break;
    case NODE_OUTPUT: print_named(node->same ? "predict " : "output ", node, out); break;
    case NODE_EXPOSE: print_named("output ", node, out); break;
    case NODE_UPDATE: print_named("update ", node, out); break;
    case NODE_MERGE: print_named("merge ", node, out); break;
    case NODE_REPEAT: print_repeat(node, indent, out); break;
    case NODE_IF: print_if(node, indent, out); break;
    case NODE_EXPR: print_expression(node->a, out); break;
    case NODE_MODEL: text_add(out, "model %s", node->name); break;
    case NODE_USE: print_use(node, out); break;
    case NODE_CONST: print_named("const ", node, out); break;
    case NODE_DIM: print_named("dim ", node, out); break;
    case NODE_INPUT: print_input(node, out); break;
    case NODE_VOCAB: print_named("vocab ", node, out); break;
    case NODE_PARAM: print_param(node, out); break;
    case NODE_BLOCK: print_block(node, indent, out); break;
    case NODE_TRAIN:
    case NODE_WEIGHTS:
        text_add(out, "%s ", node->name);
        print_body(node->kids, indent, out);
        break;
    case NODE_SETTING:
    case NODE_MAP: print_named("", node, out); break;
    default: print_expression(node, out); break;
    }
    text_add(out, "\n");
}
