/* Labels of a product: finding, joining, choosing; see labels.h. */
#include "codegen/plan/labels.h"

#include <assert.h>

static Label *add_label(DotForm *form, Role role, Dim dim, int a, int b, int c)
{
    assert(form->n < MAX_LABELS);
    Label *label = &form->labels[form->n++];
    *label = (Label){
        .role = role, .dim = dim, .dims = {a, b, c}, .length_dim = -1, .times = size_const(1)};
    return label;
}

static bool in_list(const Attr *attr, int dim)
{
    for (int i = 0; i < attr->n; i++)
        if (attr->ints[i] == dim)
            return true;
    return false;
}

static void list_labels(const Op *op, DotForm *form)
{
    const Attr *ba = op_attr(op, ATTR_batch_a), *bb = op_attr(op, ATTR_batch_b);
    const Attr *ca = op_attr(op, ATTR_contract_a), *cb = op_attr(op, ATTR_contract_b);
    const Type *a = form->types[DOT_A], *b = form->types[DOT_B];
    int c = 0;
    for (int i = 0; i < ba->n; i++)
        add_label(form, ROLE_BATCH, a->dims[ba->ints[i]], ba->ints[i], bb->ints[i], c++);
    for (int i = 0; i < a->rank; i++)
        if (!in_list(ba, i) && !in_list(ca, i))
            add_label(form, ROLE_FREE_A, a->dims[i], i, -1, c++);
    for (int i = 0; i < b->rank; i++)
        if (!in_list(bb, i) && !in_list(cb, i))
            add_label(form, ROLE_FREE_B, b->dims[i], -1, i, c++);
    for (int i = 0; i < ca->n; i++)
        add_label(form, ROLE_CONTRACT, a->dims[ca->ints[i]], ca->ints[i], cb->ints[i], -1);
}

static void remove_label(DotForm *form, int i)
{
    form->n--;
    for (; i < form->n; i++)
        form->labels[i] = form->labels[i + 1];
}

static int label_of(const DotForm *form, int tensor, int dim)
{
    for (int i = 0; i < form->n; i++)
        if (form->labels[i].dims[tensor] == dim)
            return i;
    return NO_LABEL;
}

/* The labels of a tensor's packed tokens: position in the sentence, and sentence. */
typedef struct LabelTokens {
    int position, sentence;
} LabelTokens;

static LabelTokens tokens_of(const Plan *plan, const DotForm *form, int tensor)
{
    Layout layout = {0};
    if (!form->tokens_joined[tensor])
        layout = layout_of(plan->module, form->types[tensor]);
    if (!layout_is_packed(&layout))
        return (LabelTokens){NO_LABEL, NO_LABEL};
    return (LabelTokens){label_of(form, tensor, layout.axes[0].dim),
                         label_of(form, tensor, layout.axes[0].batch_dim)};
}

static void find_strides(const Plan *plan, DotForm *form)
{
    for (int t = 0; t < DOT_TENSORS; t++) {
        Layout layout = layout_of(plan->module, form->types[t]);
        form->ragged_dim[t] = -1;
        for (int i = 0; i < layout.n; i++)
            form->labels[label_of(form, t, layout.axes[i].dim)].strides[t] =
                form->views[t].strides[i];
    }
    for (int i = 0; i < form->n; i++)
        form->labels[i].extent = axis_size(plan, &(Axis){0, -1, form->labels[i].dim});
}

/* ---- sentences ---- */

/* Whether another ragged dimension of the same sentences is summed over, or is left of a sum
 * over sentences: it must end with each sentence, so that these must be a loop. */
static bool sums_within_sentence(const Plan *plan, const DotForm *form, LabelTokens tokens)
{
    int batch = form->labels[tokens.sentence].dim.symbol;
    for (int i = 0; i < form->n; i++) {
        const Label *label = &form->labels[i];
        if (i != tokens.position &&
            (label->role == ROLE_CONTRACT || form->labels[tokens.sentence].role == ROLE_CONTRACT) &&
            symbol_is_ragged_over(plan->module, label->dim.symbol, batch))
            return true;
    }
    return false;
}

/* Whether sentence and position are one row of tokens in every tensor that has either. */
static bool are_one(const Plan *plan, const DotForm *form, LabelTokens tokens)
{
    const Label *position = &form->labels[tokens.position],
                *sentence = &form->labels[tokens.sentence];
    if (position->role != sentence->role || sums_within_sentence(plan, form, tokens))
        return false;
    for (int t = 0; t < DOT_TENSORS; t++) {
        LabelTokens here = tokens_of(plan, form, t);
        if ((label_is(position, t) || label_is(sentence, t)) &&
            (here.position != tokens.position || here.sentence != tokens.sentence))
            return false;
    }
    return true;
}

static void join_tokens(const Plan *plan, DotForm *form)
{
    for (int t = 0; t < DOT_TENSORS; t++) {
        LabelTokens tokens = tokens_of(plan, form, t);
        if (tokens.position == NO_LABEL || form->labels[tokens.sentence].sentences)
            continue;
        if (!are_one(plan, form, tokens)) {
            form->labels[tokens.sentence].sentences = true;
            continue;
        }
        Label *label = &form->labels[tokens.position];
        label->extent = size_dim(plan->program_dim[label->dim.symbol], TFC_TOTAL);
        label->dim = dim_const(0); /* no longer a dimension of its own */
        for (int u = 0; u < DOT_TENSORS; u++)
            form->tokens_joined[u] |= label_is(label, u);
        remove_label(form, tokens.sentence);
    }
}

static const char *find_sentences(const Plan *plan, DotForm *form)
{
    int sentences = NO_LABEL;
    for (int i = 0; i < form->n; i++)
        if (form->labels[i].sentences) {
            if (sentences != NO_LABEL)
                return "two batch dimensions are ragged in different ways";
            sentences = i;
        }
    if (sentences == NO_LABEL)
        return NULL;
    for (int t = 0; t < DOT_TENSORS; t++) {
        LabelTokens tokens = tokens_of(plan, form, t);
        if (tokens.position == NO_LABEL)
            continue;
        form->ragged_dim[t] = plan->program_dim[form->labels[tokens.position].dim.symbol];
        form->ragged_stride[t] = form->views[t].strides[0];
    }
    for (int i = 0; i < form->n; i++) {
        Label *label = &form->labels[i];
        if (symbol_is_ragged_over(plan->module, label->dim.symbol,
                                  form->labels[sentences].dim.symbol))
            label->length_dim = plan->program_dim[label->dim.symbol];
    }
    return NULL;
}

/* ---- simplifying ---- */

static void drop_ones(DotForm *form)
{
    for (int i = form->n - 1; i >= 0; i--)
        if (dim_is_one(form->labels[i].dim))
            remove_label(form, i);
}

/* Whether `outer` followed by `inner` steps through memory as one dimension. */
static bool lie_as_one(const Label *outer, const Label *inner)
{
    if (outer->role != inner->role || outer->sentences || inner->sentences ||
        inner->length_dim >= 0)
        return false;
    for (int t = 0; t < DOT_TENSORS; t++) {
        if (label_is(outer, t) != label_is(inner, t))
            return false;
        TfcSize step = size_product(inner->strides[t], inner->extent);
        if (label_is(outer, t) && !size_equal(&outer->strides[t], &step))
            return false;
    }
    return true;
}

static void join_labels(DotForm *form, int i, int j)
{
    Label *outer = &form->labels[i], *inner = &form->labels[j];
    outer->extent = size_product(outer->extent, inner->extent);
    outer->times = size_product(outer->times, inner->extent);
    outer->dim = dim_const(0);
    for (int t = 0; t < DOT_TENSORS; t++)
        outer->strides[t] = inner->strides[t];
    remove_label(form, j);
}

static bool join_neighbours(DotForm *form)
{
    for (int i = 0; i < form->n; i++)
        for (int j = 0; j < form->n; j++) {
            const Label *outer = &form->labels[i];
            if (i == j || outer->length_dim >= 0 || !lie_as_one(outer, &form->labels[j]))
                continue;
            join_labels(form, i, j);
            return true;
        }
    return false;
}

const char *label_dot(const Plan *plan, const Op *op, const View views[DOT_TENSORS], DotForm *form)
{
    *form = (DotForm){.types = {&op->args[0]->type, &op->args[1]->type, &op->results[0].type}};
    for (int t = 0; t < DOT_TENSORS; t++)
        form->views[t] = views[t];
    list_labels(op, form);
    find_strides(plan, form);
    join_tokens(plan, form);
    const char *problem = find_sentences(plan, form);
    drop_ones(form);
    while (join_neighbours(form))
        continue;
    return problem;
}

/* ---- sides ---- */

static bool is_contiguous_matrix(const DotForm *form, int tensor, int row, int column)
{
    const TfcSize one = size_const(1);
    const TfcSize *r = row == NO_LABEL ? &one : &form->labels[row].strides[tensor];
    const TfcSize *c = column == NO_LABEL ? &one : &form->labels[column].strides[tensor];
    if (r->coefficient <= 0 || c->coefficient <= 0)
        return false;
    return row == NO_LABEL || column == NO_LABEL || size_is(r, 1) || size_is(c, 1);
}

/* A guess at a side's length, to prefer large products. */
static double guess_extent(const DotForm *form, int label)
{
    if (label == NO_LABEL)
        return 1;
    const TfcSize *size = &form->labels[label].extent;
    double guess = (double)size->coefficient;
    for (int i = 0; i < size->n_factors; i++)
        guess *= size->factors[i].quantity == TFC_TOTAL ? 2048 : 32;
    return guess;
}

static int side_candidates(const DotForm *form, Role role, int out[MAX_LABELS])
{
    int n = 0;
    for (int i = 0; i < form->n; i++)
        if (form->labels[i].role == role && !form->labels[i].sentences)
            out[n++] = i;
    if (n == 0)
        out[n++] = NO_LABEL;
    return n;
}

/* Joins a sentence's positions and what each of them has, where one of both is a side: queries of
 * several heads that share their keys are the rows of one matrix. */
static bool join_positions(DotForm *form)
{
    int *sides[] = {&form->m, &form->n_side, &form->k};
    for (int i = 0; i < form->n; i++)
        for (int j = 0; j < form->n; j++) {
            const Label *outer = &form->labels[i];
            if (outer->length_dim < 0 || i == j || !lie_as_one(outer, &form->labels[j]))
                continue;
            for (int s = 0; s < 3; s++) {
                if (*sides[s] != i && *sides[s] != j)
                    continue;
                join_labels(form, i, j);
                *sides[s] = i;
                for (int other = 0; other < 3; other++)
                    *sides[other] -= *sides[other] > j;
                return true;
            }
        }
    return false;
}

static bool find_sides(DotForm *form)
{
    int m[MAX_LABELS], n[MAX_LABELS], k[MAX_LABELS];
    int n_m = side_candidates(form, ROLE_FREE_A, m), n_n = side_candidates(form, ROLE_FREE_B, n);
    int n_k = side_candidates(form, ROLE_CONTRACT, k);
    double best = -1;
    for (int x = 0; x < n_m * n_n * n_k; x++) {
        int i = m[x / (n_n * n_k)], j = n[x / n_k % n_n], l = k[x % n_k];
        double size = guess_extent(form, i) * guess_extent(form, j) * guess_extent(form, l);
        if (size <= best || !is_contiguous_matrix(form, DOT_A, i, l) ||
            !is_contiguous_matrix(form, DOT_B, l, j) || !is_contiguous_matrix(form, DOT_C, i, j))
            continue;
        best = size;
        form->m = i;
        form->n_side = j;
        form->k = l;
    }
    return best >= 0;
}

bool choose_sides(DotForm *form)
{
    if (!find_sides(form))
        return false;
    while (join_positions(form))
        continue;
    return true;
}
