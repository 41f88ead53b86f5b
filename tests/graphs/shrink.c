/* Shrinking: what does not change the failure is taken away, until nothing more can be.
 *
 *   options    back to their defaults
 *   batches    one; fewer and shorter rows
 *   outputs    all but one
 *   ops        replaced by an operand of the same type, or by an input
 *   constants  a size made smaller wherever it stands
 *
 * Every attempt runs in a process of its own, so crashes shrink, too. */
#define _GNU_SOURCE
#include "ir/builder.h"
#include "ir/text.h"
#include "passes/clone.h"
#include "tests/graphs/graphs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- a check in a process of its own ---- */

static void run_child(const Case *c, Check check, const Run *run, int seconds, int out)
{
    alarm((unsigned)seconds);
    if (!freopen("/dev/null", "w", stderr))
        _exit(1);
    Seen seen = {0};
    Outcome result = check_case(c, check, run, &seen);
    if (write(out, &result, sizeof result) != sizeof result)
        _exit(1);
    _exit(0);
}

Outcome check_apart(const Case *c, Check check, const Run *run, int seconds)
{
    int ends[2], status = 0;
    Outcome result = outcome(RESULT_CRASHED, "fork", "no process can be had");
    if (pipe(ends))
        return result;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(c, check, run, seconds, ends[1]);
    }
    close(ends[1]);
    bool told = child > 0 && read(ends[0], &result, sizeof result) == sizeof result;
    close(ends[0]);
    if (child > 0)
        waitpid(child, &status, 0);
    if (told)
        return result;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return outcome(RESULT_TIMEOUT, "time", "more than %d seconds", seconds);
    return outcome(RESULT_CRASHED, "crash", "signal %d",
                   WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* ---- attempts ---- */

typedef struct Shrink {
    Arena *arena;
    Case best;
    Run run;
    Check check;
    Outcome as;
    time_t deadline;
    bool moved; /* something was taken away since this was set to false */
} Shrink;

static bool in_time(const Shrink *s) { return time(NULL) < s->deadline; }

static bool alike(const Shrink *s, const Outcome *o)
{
    if (o->result != s->as.result || strcmp(o->where, s->as.where))
        return false;
    return o->result != RESULT_INVALID || !strncmp(o->message, s->as.message, 24);
}

/* Takes the case and run if they fail alike. */
static bool try_it(Shrink *s, const Case *c, const Run *run)
{
    if (!in_time(s))
        return false;
    Outcome o = check_apart(c, s->check, run, 20);
    if (!alike(s, &o))
        return false;
    s->best = *c;
    s->run = *run;
    s->as = o;
    s->moved = true;
    return true;
}

static void shrink_run(Shrink *s)
{
    const Run plain = run_defaults();
    for (int field = 0; field < 9; field++) {
        Run run = s->run;
        switch (field) {
        case 0: run.cpu = NULL; break;
        case 1: run.gemm = plain.gemm; break;
        case 2: run.threads = 1; break;
        case 3: run.budget = -1; break;
        case 4: run.scalar = false; break;
        case 5: run.passes = NULL; break;
        case 6: run.opt_level = 2; break;
        case 7: run.precision = PRODUCTS_AS_TYPED; break;
        default: run.real = DT_F64; run.precision = PRODUCTS_AS_TYPED;
        }
        if (!run_equal(&run, &s->run))
            try_it(s, &s->best, &run);
    }
    static const char *const simpler[] = {"model", "loss", "gradient"};
    for (int i = 0; i < 3; i++) {
        Run run = s->run;
        run.function = simpler[i];
        if (strcmp(run.function, s->run.function) && try_it(s, &s->best, &run))
            return;
        if (!strcmp(s->run.function, simpler[i]))
            return;
    }
}

/* ---- batches ---- */

static void shrink_batches(Shrink *s)
{
    for (int i = 0; i < s->best.n_batches && s->best.n_batches > 1; i++) {
        Case c = s->best;
        if (i == 0)
            c.batches[0] = c.batches[1];
        c.n_batches = 1;
        try_it(s, &c, &s->run);
    }
}

static void measure_dim(BatchDim *d)
{
    d->extent = 0;
    for (int r = 0; r < d->n; r++)
        d->extent = d->lengths[r] > d->extent ? d->lengths[r] : d->extent;
}

/* One row less of a uniform dimension, and of all that is ragged over it. */
static void drop_row(Case *c, const Module *module, int batch, int symbol, int row)
{
    Batch *b = &c->batches[batch];
    b->dims[symbol].extent--;
    for (size_t i = 0; i < module->symbols.count; i++) {
        BatchDim *d = &b->dims[i];
        if (module->symbols.data[i].batch != symbol)
            continue;
        memmove(d->lengths + row, d->lengths + row + 1,
                sizeof *d->lengths * (size_t)(d->n - row - 1));
        d->n--;
        measure_dim(d);
    }
}

static void shrink_lengths(Shrink *s, const Module *module, int batch, int symbol)
{
    for (int r = 0; r < s->best.batches[batch].dims[symbol].n; r++)
        for (int length = s->best.batches[batch].dims[symbol].lengths[r], to = 0;
             to < length && in_time(s); to = to ? (to + length + 1) / 2 : 1) {
            Case c = s->best;
            c.batches[batch].dims[symbol].lengths[r] = to;
            measure_dim(&c.batches[batch].dims[symbol]);
            batch_make_dims(module, &c.batches[batch]);
            if (try_it(s, &c, &s->run))
                break;
            if (to == length - 1)
                break;
        }
}

static void shrink_dims(Shrink *s, const Module *module)
{
    for (int b = 0; b < s->best.n_batches; b++)
        for (size_t i = 0; i < module->symbols.count && in_time(s); i++) {
            BatchDim *d = &s->best.batches[b].dims[i];
            if (symbol_is_made(module, (int)i))
                continue;
            if (d->n >= 0) {
                shrink_lengths(s, module, b, (int)i);
                continue;
            }
            for (int row = (int)d->extent - 1; row >= 0 && s->best.batches[b].dims[i].extent > 1;
                 row--) {
                Case c = s->best;
                drop_row(&c, module, b, (int)i, row);
                batch_make_dims(module, &c.batches[b]);
                try_it(s, &c, &s->run);
            }
        }
}

/* ---- the graph ---- */

static Module *parse(Arena *arena, const Case *c)
{
    Diagnostics *diags = ARENA_NEW(arena, Diagnostics);
    diag_init(diags, arena);
    return ir_parse(arena, diags, diag_source(arena, "graph.tir", c->text, strlen(c->text)));
}

/* What is not read any more is not declared either. */
static void drop_unread(Module *module)
{
    const Function *function = module->functions.data[0];
    size_t n = 0;
    for (size_t i = 0; i < module->params.count; i++) {
        bool read = false;
        FOR_OPS (op, &function->body)
            read |= op->kind == OP_param &&
                    !strcmp(op_string(op, ATTR_name), module->params.data[i]->name);
        if (read)
            module->params.data[n++] = module->params.data[i];
    }
    module->params.count = n;
}

/* The changed module as the case's text, if it fails alike. */
static bool try_module(Shrink *s, Module *module)
{
    Case c = s->best;
    Text text = {0};
    remove_dead(module->functions.data[0]);
    drop_unread(module);
    function_number(module->functions.data[0]);
    ir_print_module(module, &text);
    c.text = text_keep(s->arena, &text);
    return strcmp(c.text, s->best.text) && try_it(s, &c, &s->run);
}

static Op *op_at(Module *module, int n)
{
    FOR_OPS (op, &module->functions.data[0]->body)
        if (n-- == 0)
            return op;
    return NULL;
}

static int count_effects(const Function *function)
{
    int n = 0;
    FOR_OPS (op, &function->body)
        n += op_family(op) == FAMILY_effect;
    return n;
}

/* Way `way` of doing without op `n`; false: there is no such way. */
static bool without(Module *module, int n, int way)
{
    Function *function = module->functions.data[0];
    Op *op = op_at(module, n);
    if (op_family(op) == FAMILY_effect) {
        if (way == 0 && count_effects(function) > 1)
            block_remove(&function->body, op);
        return way == 0;
    }
    if (op->kind == OP_input || op->kind == OP_param || op->n_results != 1)
        return false;
    if (way < op->n_args) {
        if (!type_equal(&op->args[way]->type, &op->results[0].type))
            return true; /* nothing done: the text is the same */
        value_replace(op_result(op), op->args[way]);
        return true;
    }
    if (way > op->n_args || op->kind == OP_const)
        return false;
    Builder b = builder_before(function, &function->body, op);
    Value *input = build_input(&b, arena_printf(module->arena, "y%d", n), op->results[0].type);
    value_replace(op_result(op), input);
    return true;
}

static int op_count(Shrink *s)
{
    Module *module = parse(s->arena, &s->best);
    int n = 0;
    FOR_OPS (op, &module->functions.data[0]->body)
        n++;
    return n;
}

static void shrink_ops(Shrink *s)
{
    for (int n = op_count(s) - 1; n >= 0 && in_time(s); n--)
        for (int way = 0; in_time(s); way++) {
            Module *module = parse(s->arena, &s->best);
            if (!op_at(module, n) || !without(module, n, way))
                break;
            if (try_module(s, module))
                break;
        }
}

/* Every constant dimension of that size as another. */
static void resize_dims(int rank, Dim *dims, int64_t from, int64_t to)
{
    for (int i = 0; i < rank; i++)
        if (dim_is_const(dims[i]) && dims[i].size == from)
            dims[i].size = to;
}

static void resize(Module *module, int64_t from, int64_t to)
{
    for (size_t i = 0; i < module->params.count; i++)
        resize_dims(module->params.data[i]->type.rank, module->params.data[i]->type.dims, from, to);
    FOR_OPS (op, &module->functions.data[0]->body) {
        if (op->n_results)
            resize_dims(op->results[0].type.rank, op->results[0].type.dims, from, to);
        for (int i = 0; i < op->n_attrs; i++) {
            if (op->attrs[i].name == ATTR_shape)
                resize_dims(op->attrs[i].rank, op->attrs[i].dims, from, to);
            if (op->attrs[i].name == ATTR_size && op->attrs[i].i == from)
                op->attrs[i].i = to;
        }
    }
}

static void shrink_constants(Shrink *s)
{
    for (int64_t size = 80; size > 1 && in_time(s); size--)
        for (int64_t to = 1; to < size; to = to < 4 ? to + 1 : to * 2) {
            Module *module = parse(s->arena, &s->best);
            resize(module, size, to);
            if (try_module(s, module))
                break;
        }
}

void shrink_case(Arena *arena, Case *c, Check check, Run *run, Outcome *as, int seconds)
{
    Shrink s = {arena, *c, *run, check, *as, time(NULL) + seconds, true};
    Outcome again = check_apart(c, check, run, 60);
    s.as = again;
    bool fails = again.result == as->result;
    while (fails && s.moved && in_time(&s)) {
        s.moved = false;
        shrink_batches(&s);
        shrink_ops(&s);
        shrink_run(&s);
        shrink_dims(&s, parse(arena, &s.best));
        shrink_constants(&s);
    }
    *c = s.best;
    *run = s.run;
    *as = s.as;
}
