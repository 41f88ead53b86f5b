/* A function as a graph for Graphviz: ops as nodes, regions as clusters around
 * their bodies, values as edges labelled with their types. */
#include "ir/text.h"

#include <string.h>

/* Nodes are ops; the printed ids belong to values. */
static void add_node_name(const Op *op, Text *out) { text_add(out, "op%d", op->id); }

/* The scope is told once: by a region for what is in it, by a param in its name. */
static void add_label(const Op *op, const char *scope_around, Text *out)
{
    Text label = {0};
    if (op->kind == OP_const)
        text_add(&label, "%g", op_float(op, ATTR_value));
    else
        text_add(&label, "%s", op_info[op->kind].name);
    if (op_attr(op, ATTR_name))
        text_add(&label, " %s", op_string(op, ATTR_name));
    bool told = op->kind == OP_const || op->kind == OP_param ||
                (op->scope && scope_around && !strcmp(op->scope, scope_around));
    if (!told && op->scope && *op->scope)
        text_add(&label, "\n%s", op->scope);
    text_quote(out, label.data);
    text_free(&label);
}

static void add_node(const Op *op, const char *scope, int depth, Text *out)
{
    static const char *const colours[] = {
        [FAMILY_leaf] = "#e8e8e8",   [FAMILY_elementwise] = "#d6e9f8", [FAMILY_reduce] = "#fde6c4",
        [FAMILY_norm] = "#fde6c4",   [FAMILY_shape] = "#f5f5f5",       [FAMILY_matmul] = "#f6d0d0",
        [FAMILY_index] = "#e3dcf5",  [FAMILY_loss] = "#f6d0d0",        [FAMILY_effect] = "#d4efd4",
        [FAMILY_region] = "#ffffff",
    };
    text_add(out, "%*s", 2 * depth, "");
    add_node_name(op, out);
    text_add(out, " [label=");
    add_label(op, scope, out);
    if (op->kind == OP_const)
        text_add(out, ", shape=plaintext, style=\"\", height=0.2];\n");
    else
        text_add(out, ", fillcolor=\"%s\"];\n", colours[op_family(op)]);
}

/* A region is a cluster: its body, with the yield as the node that gives its results. */
static void add_nodes(const Block *block, const char *scope, int depth, Text *out)
{
    FOR_OPS (op, block) {
        if (!op->body) {
            add_node(op, scope, depth, out);
            continue;
        }
        text_add(out, "%*ssubgraph cluster_%d {\n%*slabel=", 2 * depth, "", op->id, 2 * depth + 2,
                 "");
        add_label(op, NULL, out);
        text_add(out,
                 ";\n%*slabeljust=l; style=filled; fillcolor=\"#f7fbf7\"; color=\"#7a9a7a\";\n",
                 2 * depth + 2, "");
        add_nodes(op->body, op->scope, depth + 1, out);
        text_add(out, "%*s}\n", 2 * depth, "");
    }
}

static void add_edges(const Module *module, const Block *block, Text *out)
{
    FOR_OPS (op, block) {
        if (op->body) {
            add_edges(module, op->body, out);
            continue;
        }
        for (int i = 0; i < op->n_args; i++) {
            const Op *from = op->args[i]->op;
            text_add(out, "  ");
            add_node_name(from->body ? from->body->last : from, out);
            text_add(out, " -> ");
            add_node_name(op, out);
            Text type = {0};
            ir_print_type(module, &op->args[i]->type, &type);
            text_add(out, " [label=");
            text_quote(out, type.data);
            text_add(out, "];\n");
            text_free(&type);
        }
    }
}

void ir_print_dot(const Function *function, Text *out)
{
    function_number((Function *)function); /* ids are names, not what is meant */
    text_add(out, "digraph ");
    text_quote(out, function->name);
    text_add(out, " {\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n"
                  "  edge [fontname=\"sans-serif\", fontsize=9];\n"
                  "  graph [fontname=\"sans-serif\", fontsize=11];\n");
    add_nodes(&function->body, NULL, 1, out);
    add_edges(function->module, &function->body, out);
    text_add(out, "}\n");
}
