/* derive_incremental: from the whole-sentence `forward` to encode and decode_step.
 *
 * decode_step computes the newest positions only. Every value asked for is built
 * for given roles of its target dimensions T~:
 *
 *   Q   the newest positions (usually one a sentence)
 *   P   all positions so far
 *
 *   scores [B, H, Q~, P~]  =  q [B, H, Q~, d] · k [B, H, d, P~]
 *
 * Going back from the logits, roles follow from the ops. Where a value that comes
 * from the target's tokens is wanted for P alone, it is computed for Q and appended
 * to a cache: keys and values, in attention. What the target does not enter is
 * computed once a sentence by `encode`. Positions (iota) are counted from what is
 * cached: length(P) - length(Q) + 0, 1, …, so that a value made from them alone
 * gains the batch dimension in front (it is "lifted").
 *
 * A dimension made of the text's may have other positions before it, M = S + T (a source in front
 * of its target, registers in front of a text). Its newest positions are the text's newest, Q; a
 * cache along it begins with what encode computes of the positions before the text (before.c).
 *
 * That what was computed of a prefix stays as it is, is proved first
 * (passes/dependence): a model whose logits depend on later positions is reported. */
#include "passes/incremental/incremental.h"

#include "passes/clone.h"
#include "passes/dependence/dependence.h"
#include "passes/pass.h"

#include <string.h>

static void trace_origins(Step *s, const char *target)
{
    FOR_OPS (op, &s->forward->body)
        for (int r = 0; r < op->n_results; r++) {
            Value *v = &op->results[r];
            Origin *o = ARENA_NEW(s->module->arena, Origin);
            side_set_value(&s->origins, v, o);
            if (op->kind == OP_input)
                *(strcmp(op_string(op, ATTR_name), target) ? &o->other : &o->target) = true;
            o->length |= target_axis(s, v) >= 0;
            if ((op->kind == OP_size || op->kind == OP_lengths) &&
                is_made_of(s->module, (int)op_int(op, ATTR_dim), s->time))
                o->length = true;
            for (int i = 0; i < op->n_args; i++) {
                const Origin *above = origin(s, op->args[i]);
                o->target |= above->target;
                o->other |= above->other;
                o->length |= above->length;
            }
        }
}

/* `encode` so far holds only outputs that name the forward's values: it becomes a
 * copy of the forward that ends in them. */
static bool cut_encoder(Step *s)
{
    Block outputs = s->encode->body;
    s->encode->body = (Block){0};
    SideTable copies = side_new(s->module->arena);
    FOR_OPS (op, &s->forward->body)
        if (op->kind != OP_output)
            block_append(&s->encode->body, clone_op(s->encode, op, &copies));
    FOR_OPS (op, &outputs)
        block_append(&s->encode->body, clone_op(s->encode, op, &copies));
    bool ok = build_beginnings(s, &copies);
    remove_dead(s->encode);
    return ok;
}

int named_symbol(Module *module, const char *name, int batch)
{
    int symbol = module_symbol(module, name);
    while (symbol != NO_SYMBOL &&
           (module->symbols.data[symbol].batch != batch || symbol_is_made(module, symbol))) {
        name = arena_printf(module->arena, "%s'", name);
        symbol = module_symbol(module, name);
    }
    return symbol != NO_SYMBOL ? symbol : module_add_symbol(module, name, batch);
}

/* The forward's input and output that it is about; false after a message if they are not such. */
static bool find_ends(Step *s, const char *target, const char *logits, Op **output)
{
    const Op *input = find_input(s->forward, target);
    *output = find_output(s->forward, logits);
    if (*output && !input) {
        diag_error(s->diags, (*output)->loc,
                   "nothing to decode: output %s does not depend on an input %s", logits, target);
        return false;
    }
    if (!*output || input->results[0].type.rank != 2 ||
        !symbol_is_ragged(s->module, input->results[0].type.dims[1].symbol)) {
        diag_error(s->diags, (Loc){0}, "decoding needs an input %s: token[B, T~] and an output %s",
                   target, logits);
        return false;
    }
    const Dim *dims = input->results[0].type.dims;
    s->batch = dims[0].symbol;
    s->time = dims[1].symbol;
    s->q[ROWS_ALL] = named_symbol(s->module, "Q", s->batch);
    s->q[ROWS_FEW] = s->q[ROWS_MANY] = NO_SYMBOL;
    find_target_dims(s, named_symbol(s->module, "P", s->batch));
    return true;
}

/* `wanted` of the newest positions becomes decode_step's output. */
static bool build_output_of(Step *s, const char *logits, Value *wanted)
{
    Roles roles = {{0}};
    for (int i = 0; i < wanted->type.rank; i++)
        if (target_dim(s, wanted->type.dims[i]))
            roles.of[i] = ROLE_Q;
    Value *result = build_step(s, wanted, roles);
    if (result)
        build_output(&s->b, logits, result);
    return result != NULL;
}

/* encode, as far as the step asks for it, and decode_step; false after a message. */
static bool build_functions(Step *s, const char *target, const char *logits, Value *wanted)
{
    s->origins = side_new(s->module->arena);
    s->n_memory = s->n_caches = 0;
    s->beginnings.count = 0;
    s->encode = module_add_function(s->module, function_names()[FUNCTION_ENCODE]);
    s->step = module_add_function(s->module, function_names()[FUNCTION_DECODE_STEP]);
    s->b = builder_at_end(s->step);
    trace_origins(s, target);
    absorb_find(s);
    absorb_mark(s);
    find_reaches(s);
    return build_output_of(s, logits, wanted);
}

/* False after a message: what is computed of a prefix of the text would not stay as it is. */
static bool is_causal(Step *s, const char *logits, const Value *wanted)
{
    s->dependence = dependence_of(s->forward, s->time);
    if (!dependence_leak(s->dependence, wanted))
        return true;
    dependence_report(s->dependence, wanted, logits, s->diags);
    return false;
}

/* Nothing is handed over: the module has no `encode`, which stands right before the step. */
static void drop_encoder(Module *module, Function *step)
{
    module->functions.count--;
    vec_last(module->functions) = step;
}

bool derive_incremental(Module *module, const char *target, const char *logits, Incremental *out,
                        Diagnostics *diags)
{
    *out = (Incremental){0};
    const ModuleExtent extent = module_extent(module);
    Step s = {.module = module, .diags = diags};
    PassContext context = {.diags = diags};
    Op *output;
    s.forward = derive_forward(module);
    pass_simplify(s.forward, &context);
    module_cut(module, extent); /* a working copy */
    if (!find_ends(&s, target, logits, &output) || !is_causal(&s, logits, output->args[0]))
        return false;
    const ModuleExtent found = module_extent(module);
    bool ok = build_functions(&s, target, logits, output->args[0]);
    const int64_t many = ok ? absorb_least_many(&s) : 0;
    if (many) {
        module_cut(module, found);
        find_row_sets(&s, many);
        ok = build_functions(&s, target, logits, output->args[0]);
    }
    const bool encodes = s.n_memory || s.beginnings.count;
    if (ok && encodes)
        ok = cut_encoder(&s);
    if (!ok) {
        module_cut(module, extent);
        return false;
    }
    if (!encodes)
        drop_encoder(module, s.step);
    out->encode = encodes ? s.encode : NULL;
    out->decode_step = s.step;
    out->many = many_new(&s);
    return true;
}
