/* Paths (passes/fuse/paths.h): each answer beside reachability computed op by op, on functions
 * drawn at random, and how long many answers take where layers hang on one chain of sums. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/builder.h"
#include "passes/fuse/paths.h"

#include <stdlib.h>
#include <time.h>

enum { MOST_OPS = 60, FUNCTIONS = 200 };

typedef struct Drawn {
    Arena *arena;
    Diagnostics diags;
    Function *function;
    Builder builder;
    Value **values;
    int n;
} Drawn;

static Drawn begin_function(int most)
{
    Drawn d = {.arena = arena_new()};
    diag_init(&d.diags, d.arena);
    d.function = module_add_function(module_new(d.arena, &d.diags, "m"), "f");
    d.values = ARENA_ARRAY(d.arena, Value *, most);
    return d;
}

static Value *add_value(Drawn *d, Value *value)
{
    assert_non_null(value);
    return d->values[d->n++] = value;
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Ops that read one or two of the `reach` values before them: with a small reach long chains, with
 * a large one many ops that nothing connects. */
static Drawn draw_function(uint64_t seed)
{
    Drawn d = begin_function(MOST_OPS);
    d.builder = builder_at_end(d.function);
    const int inputs = 1 + (int)next_random(&seed) % 4, reach = 2 + (int)next_random(&seed) % 30;
    for (int i = 0; i < inputs; i++)
        add_value(&d, build_input(&d.builder, i ? "y" : "x", type_scalar(DT_F32)));
    while (d.n < MOST_OPS) {
        const int from = d.n < reach ? d.n : reach;
        Value *a = d.values[d.n - 1 - (int)next_random(&seed) % from],
              *b = d.values[d.n - 1 - (int)next_random(&seed) % from];
        add_value(&d, next_random(&seed) % 3 ? build_binary(&d.builder, OP_add, a, b)
                                             : build_unary(&d.builder, OP_neg, a));
    }
    return d;
}

/* needs[i] has those that value i needs, itself included. */
static void compute_needs(const Drawn *d, bool (*needs)[MOST_OPS])
{
    for (int i = 0; i < d->n; i++) {
        for (int j = 0; j < d->n; j++)
            needs[i][j] = i == j;
        const Op *op = d->values[i]->op;
        for (int a = 0; a < op->n_args; a++)
            for (int k = 0; k < i; k++)
                for (int j = 0; d->values[k] == op->args[a] && j < d->n; j++)
                    needs[i][j] |= needs[k][j];
    }
}

static void test_answers(void **state)
{
    (void)state;
    static bool needs[MOST_OPS][MOST_OPS];
    int yes = 0, no = 0;
    for (int f = 0; f < FUNCTIONS; f++) {
        Drawn d = draw_function((uint64_t)f + 1);
        Paths paths = paths_new(d.function, d.arena);
        compute_needs(&d, needs);
        for (int i = 0; i < d.n; i++)
            for (int j = 0; j < d.n; j++) {
                const bool got = paths_needs(&paths, d.values[i]->op, d.values[j]->op);
                if (got != needs[i][j])
                    fail_msg("function %d: %d needs %d: %d", f, i, j, got);
                *(got ? &yes : &no) += 1;
            }
        arena_free(d.arena);
    }
    assert_true(yes > MOST_OPS * MOST_OPS && no > MOST_OPS * MOST_OPS);
}

/* A chain of `layers` sums, each with a side branch of its own: whether the last op of the chain
 * needs each branch, whether each branch needs the first op, and whether a branch needs that of the
 * layer before. Returns the seconds that the answers take. */
static double answer_chain(int layers)
{
    enum { ROUNDS = 20 };
    Drawn d = begin_function(2 * layers + 1);
    d.builder = builder_at_end(d.function);
    add_value(&d, build_input(&d.builder, "x", type_scalar(DT_F32)));
    for (int i = 0; i < layers; i++) {
        Value *x = d.values[d.n - 1];
        Value *branch = add_value(&d, build_unary(&d.builder, OP_neg, x));
        add_value(&d, build_binary(&d.builder, OP_add, x, branch));
    }
    Paths paths = paths_new(d.function, d.arena);
    struct timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    const Op *first = d.values[0]->op, *last = d.values[d.n - 1]->op;
    bool ok = true;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 1; i < d.n; i += 2) {
            const Op *branch = d.values[i]->op;
            ok = ok && paths_needs(&paths, last, branch) && paths_needs(&paths, branch, first) &&
                 (i == 1 || paths_needs(&paths, branch, d.values[i - 2]->op)) &&
                 !paths_needs(&paths, branch, last);
        }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    assert_true(ok);
    arena_free(d.arena);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

static double fastest_chain(int layers)
{
    double best = answer_chain(layers);
    for (int i = 0; i < 4; i++) {
        const double again = answer_chain(layers);
        best = again < best ? again : best;
    }
    return best;
}

/* Searches that went through all layers would take 64 times as long for eight times the layers. */
static void test_long_chain(void **state)
{
    (void)state;
    enum { LAYERS = 1000, TIMES = 8 };
    const double one = fastest_chain(LAYERS), more = fastest_chain(TIMES * LAYERS);
    if (more > 3 * TIMES * one)
        fail_msg("%d layers take %.4f s, %d take %.4f s", LAYERS, one, TIMES * LAYERS, more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_long_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
