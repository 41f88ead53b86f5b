/* ONNX's Attention and its losses as .tfg: what a Transformer's own blocks are made
 * of, with every switch that ONNX gives them. */
#include "tests/reference/onnx_case.h"

#include <inttypes.h>
#include <string.h>

/* ---- attention ---- */

enum { QUERY, KEY, VALUE, MASK, PAST_KEY, PAST_VALUE, KEY_LENGTHS }; /* inputs */
enum { RESULT, PRESENT_KEY, PRESENT_VALUE, SCORES };                 /* outputs */
enum { SCORES_PLAIN, SCORES_CAPPED, SCORES_MASKED, SCORES_SOFTMAX }; /* what SCORES shows */

typedef struct Heads {
    int64_t batch, query_heads, heads, queries, keys, width; /* keys: with the past's */
} Heads;

static Heads find_heads(const OnnxCase *c)
{
    const StTensor *q = case_input(c, QUERY), *k = case_input(c, KEY),
                   *past = case_input(c, PAST_KEY);
    Heads n = {.batch = q->dims[0]};
    bool flat = q->rank == 3; /* [B, X, heads × width] */
    n.query_heads = flat ? (int64_t)case_number(c, "q_num_heads", 1) : q->dims[1];
    n.heads = flat ? (int64_t)case_number(c, "kv_num_heads", 1) : k->dims[1];
    n.queries = q->dims[flat ? 1 : 2];
    n.keys = k->dims[flat ? 1 : 2] + (past ? past->dims[2] : 0);
    n.width = flat ? q->dims[2] / n.query_heads : q->dims[3];
    return n;
}

/* `name`: [B, heads, X, width], after what is remembered of it. */
static void say_heads(const OnnxCase *c, Text *model, const char *name, size_t input, int64_t heads,
                      size_t past, size_t present)
{
    text_add(model,
             case_input(c, input)->rank == 3 ? "%s = heads_of(%s, %" PRId64 ")\n" : "%s = %s\n",
             name, case_input_name(c, input), heads);
    if (past && case_input(c, past))
        text_add(model, "%s = concat([%s, %s], 2)\n", name, case_input_name(c, past), name);
    if (present && case_output_name(c, present))
        text_add(model, "output %s = %s\n", case_output_name(c, present), name);
}

/* Grouped queries: each head of keys and values serves several of the queries'. */
static void say_groups(Text *model, const char *name, const Heads *n)
{
    if (n->heads != n->query_heads)
        text_add(
            model,
            "%s = reshape(broadcast(reshape(%s, [%s.0, %s.1, 1, %s.2, %s.3]), [%s.0, %s.1, %" PRId64
            ", %s.2, %s.3]), [%s.0, %" PRId64 ", %s.2, %s.3])\n",
            name, name, name, name, name, name, name, name, n->query_heads / n->heads, name, name,
            name, n->query_heads, name, name);
}

static void say_scores(const OnnxCase *c, Text *model, int mode)
{
    if (case_output_name(c, SCORES) && (int)case_number(c, "qk_matmul_output_mode", 0) == mode)
        text_add(model, "output %s = scores\n", case_output_name(c, SCORES));
}

static void say_masks(const OnnxCase *c, Text *model, const Heads *n)
{
    const StTensor *mask = case_input(c, MASK);
    if (mask && mask->type == ST_BOOL)
        text_add(model, "scores = mask(scores, %s)\n", case_input_name(c, MASK));
    else if (mask)
        text_add(model, "scores = scores + %s\n", case_input_name(c, MASK));
    const char *before = "0"; /* how many keys there are before the first query's own */
    if (case_input(c, PAST_KEY))
        before = arena_printf(c->arena, "%" PRId64, case_input(c, PAST_KEY)->dims[2]);
    if (case_input(c, KEY_LENGTHS)) {
        text_add(model, "exist = reshape(%s, [%" PRId64 ", 1, 1, 1])\n",
                 case_input_name(c, KEY_LENGTHS), n->batch);
        text_add(model, "scores = mask(scores, position(%" PRId64 ") < exist)\n", n->keys);
        before = arena_printf(c->arena, "(exist - %" PRId64 ")", n->queries);
    }
    if (case_number(c, "is_causal", 0) != 0)
        text_add(model,
                 "scores = mask(scores, reshape(position(%" PRId64 "), [%" PRId64
                 ", 1]) + %s >= position(%" PRId64 "))\n",
                 n->queries, n->queries, before, n->keys);
}

void say_attention(const OnnxCase *c, Text *model)
{
    Heads n = find_heads(c);
    say_heads(c, model, "q", QUERY, n.query_heads, 0, 0);
    say_heads(c, model, "k", KEY, n.heads, PAST_KEY, PRESENT_KEY);
    say_heads(c, model, "v", VALUE, n.heads, PAST_VALUE, PRESENT_VALUE);
    say_groups(model, "k", &n);
    say_groups(model, "v", &n);
    text_add(model, "scores = q @ transpose(k) * ");
    if (case_has(c, "scale"))
        text_number(model, case_number(c, "scale", 1));
    else
        text_add(model, "%" PRId64 " ^ -0.5", n.width);
    text_add(model, "\n");
    say_scores(c, model, SCORES_PLAIN);
    if (case_number(c, "softcap", 0) > 0) {
        text_add(model, "cap = ");
        text_number(model, case_number(c, "softcap", 0));
        text_add(model, "\nscores = cap * tanh(scores / cap)\n");
    }
    say_scores(c, model, SCORES_CAPPED);
    say_masks(c, model, &n);
    say_scores(c, model, SCORES_MASKED);
    text_add(model, "scores = softmax(scores)\n");
    say_scores(c, model, SCORES_SOFTMAX);
    text_add(model, "output %s = %s(scores @ v)\n", case_output_name(c, RESULT),
             case_input(c, QUERY)->rank == 3 ? "join_heads" : "");
}

/* ---- losses: classes along axis 1, a label for each place of the others ---- */

void say_loss(const OnnxCase *c, Text *model)
{
    bool logits = !strcmp(c->op, "SoftmaxCrossEntropyLoss");
    const StTensor *x = case_input(c, 0), *labels = case_input(c, 1);
    const char *reduction = json_member_text(c->attributes, "reduction");
    const char *classes = arena_printf(c->arena, "[%" PRId64, x->dims[1]); /* [C, 1, …] */
    for (int i = 2; i < x->rank; i++)
        classes = arena_printf(c->arena, "%s, 1", classes);
    text_add(model, logits ? "x = log_softmax(%s, 1)\n" : "x = %s\n", case_input_name(c, 0));
    if (case_output_name(c, 1))
        text_add(model, "output %s = x\n", case_output_name(c, 1));
    text_add(model, "label = reshape(%s, [%" PRId64 ", 1, %s])\n", case_input_name(c, 1),
             labels->dims[0], dims_text(c, labels, 1, labels->rank));
    text_add(model, "here = label == reshape(position(%" PRId64 "), %s])\n", x->dims[1], classes);
    text_add(model, "weight = 1\n");
    if (case_input(c, 2))
        text_add(model, "weight = sum(select(here, reshape(%s, %s]), 0), 1)\n",
                 case_input_name(c, 2), classes);
    if (case_has(c, "ignore_index"))
        text_add(model, "weight = select(label == %d, 0, weight)\n",
                 (int)case_number(c, "ignore_index", 0));
    bool weighted = case_input(c, 2) || case_has(c, "ignore_index");
    text_add(model, "each = sum(select(here, -x, 0), 1) * weight\n");
    if (reduction && !strcmp(reduction, "none"))
        text_add(model, "output %s = reshape(each, %s)\n", case_output_name(c, 0),
                 dims_text(c, labels, 0, labels->rank));
    else if (reduction && !strcmp(reduction, "sum"))
        text_add(model, "output %s = reshape(sum(each), [1])\n", case_output_name(c, 0));
    else
        text_add(model, "output %s = reshape(%s, [1])\n", case_output_name(c, 0),
                 weighted ? "sum(each) / sum(weight)" : "mean(each)");
}
