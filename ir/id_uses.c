/* Uses of an input's integers, and the ranges that follow. */
#include "ir/id_uses.h"

#include "ir/id_labels.h"

/* ---- uses ---- */

/* The ops of which results are made. */
static SideTable live_ops(const Function *model)
{
    SideTable live = side_new(model->module->arena);
    for (const Op *op = model->body.last; op; op = op->previous)
        if (op_family(op) == FAMILY_effect || side_number(&live, op))
            for (int i = 0; i < op->n_args; i++)
                side_set_number(&live, op->args[i]->op, 1);
    return live;
}

static int64_t constant_size(Dim dim) { return dim_is_const(dim) ? dim.size : 0; }

/* Adds a use for each of what an operand holds. */
static void add_uses(IdUses *uses, const Carriers *carriers, const SideTable *live, const Op *op,
                     int arg, IdUseKind kind, int64_t n)
{
    for (const Carried *c = carried_by(carriers, op->args[arg]); c; c = c->next) {
        const bool fits = n > 0 && (!c->is_f32 || n <= MOST_F32_ID);
        const IdUse use = {kind, op, n, *c, c->is_exact && fits && side_number(live, op)};
        vec_push(live->arena, *uses, use);
        if (kind == ID_COMPARED && use.is_sure && eq_compares_labels(carriers, op, &c->part))
            vec_push(live->arena, *uses, ((IdUse){ID_LABEL, op, n, *c, true}));
    }
}

IdUses id_uses(const Function *model, const Op *input)
{
    const Carriers carriers = carriers_of(model, input);
    const SideTable live = live_ops(model);
    IdUses uses = {0};
    FOR_OPS (op, &model->body)
        switch (op->kind) {
        case OP_gather:
            add_uses(&uses, &carriers, &live, op, 1, ID_ROW,
                     constant_size(op->args[0]->type.dims[0]));
            break;
        case OP_grouped_dot:
            add_uses(&uses, &carriers, &live, op, 2, ID_MATRIX,
                     constant_size(op->args[1]->type.dims[0]));
            break;
        case OP_ctc:
            add_uses(&uses, &carriers, &live, op, 1, ID_CTC_LABEL,
                     constant_size(op->args[0]->type.dims[2]));
            break;
        case OP_eq:
            for (int side = 0; side < 2; side++) {
                const int64_t n = positions_counted(op->args[1 - side]);
                if (n < INT64_MAX)
                    add_uses(&uses, &carriers, &live, op, side, ID_COMPARED, n);
            }
            break;
        default: break;
        }
    return uses;
}

/* ---- ranges ---- */

enum { ANY_NEGATIVE = INT32_MIN };

/* A part of the input has the range. */
static void set_elements(IdRange *range, const Op *input, const CarriedPart *part)
{
    const Type *type = &input->results[0].type;
    int64_t inner = 1;
    for (int i = part->axis + 1; i < type->rank; i++)
        inner *= type->dims[i].size;
    range->period = type->dims[part->axis].size * inner;
    range->from = part->start * inner;
    range->to = (part->start + part->size) * inner;
}

static void narrow_part(IdRange *ranges, IdRanges *out, IdRange range)
{
    int64_t i = 0;
    while (i < out->n && (ranges[i].period != range.period || ranges[i].from != range.from ||
                          ranges[i].to != range.to))
        i++;
    if (i == out->n)
        ranges[out->n++] = range;
    if (range.least > ranges[i].least)
        ranges[i].least = range.least;
    if (range.below < ranges[i].below)
        ranges[i].below = range.below;
    ranges[i].labels = ranges[i].labels && range.labels;
}

static int64_t least_of(IdUseKind kind)
{
    return kind == ID_LABEL ? ANY_NEGATIVE : kind == ID_CTC_LABEL ? 1 : 0;
}

/* The rows of the smallest table in which all of the input is looked up; 0: none. */
static int64_t rows_of_all(const IdUses *uses)
{
    int64_t rows = 0;
    for (size_t i = 0; i < uses->count; i++) {
        const IdUse *use = &uses->data[i];
        if (use->kind == ID_ROW && use->is_sure && part_is_whole(&use->held.part) &&
            (!rows || use->n < rows))
            rows = use->n;
    }
    return rows;
}

IdRanges id_ranges(const Function *model, const Op *input, bool is_made)
{
    const IdUses uses = id_uses(model, input);
    const bool has_words = op_attr(input, ATTR_vocab);
    const int64_t rows = rows_of_all(&uses);
    IdRange *ranges = ARENA_ARRAY(model->module->arena, IdRange, uses.count + 1);
    IdRanges out = {0, ranges};
    for (size_t i = 0; i < uses.count; i++) {
        const IdUse *use = &uses.data[i];
        /* Tokens that are also labels of fewer classes: the head was replaced. The loss has no
         * sense then, but what else the model gives has. */
        if (use->kind == ID_LABEL && use->n < rows)
            continue;
        const bool bounds = use->kind != ID_COMPARED, is_sure = !is_made && bounds && use->is_sure;
        IdRange range = {ANY_NEGATIVE, use->n, .period = 1, .to = 1};
        if (is_sure) {
            range.least = least_of(use->kind);
            range.labels = use->kind == ID_LABEL || use->kind == ID_CTC_LABEL;
            if (!part_is_whole(&use->held.part))
                set_elements(&range, input, &use->held.part);
        }
        if (is_sure || (use->n && (is_made || (has_words && bounds))))
            narrow_part(ranges, &out, range);
    }
    return out;
}
