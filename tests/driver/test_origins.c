/* Where the code of models comes from: every op of every kernel has an origin, as it is built and
 * after all passes, and it is the line that says what the op computes. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "codegen/loop/loop.h"
#include "driver/session/session.h"

#include <string.h>

typedef struct Seen {
    const LoFunction *function;
    int *ops; /* by origin */
} Seen;

static void see_block(Seen *seen, const LoBlock *block)
{
    FOR_LOOP_OPS (op, block) {
        if (op->origin < LO_ORIGIN_WHOLE || op->origin >= seen->function->n_origins)
            fail_msg("%s: %s %%%d has no origin", seen->function->name, lo_info[op->kind].name,
                     op->id);
        seen->ops[op->origin]++;
        if (op->body)
            see_block(seen, op->body);
        if (op->other)
            see_block(seen, op->other);
    }
}

static LoModule *loops_of(Job *job, const char *path, const char *name, const char *cpu,
                          const char *after)
{
    SessionOptions options = session_defaults(path);
    Session session;
    assert_true(session_open(&session, job, &options));
    Function *function = session_function(&session, name);
    assert_non_null(function);
    assert_true(session_lower(&session, function, NULL));
    TargetOptions target = {.cpu = cpu, .opt_level = 2, .gemm = GEMM_BLAS};
    LoModule *loops = codegen_loops(function, &target, after, job->arena, &job->diags);
    assert_non_null(loops);
    session_close(&session);
    return loops;
}

static void check(const char *path, const char *name, const char *cpu, const char *after)
{
    Job job = {.arena = arena_new()};
    diag_init(&job.diags, job.arena);
    LoModule *loops = loops_of(&job, path, name, cpu, after);
    int parts = 0;
    for (size_t i = 0; i < loops->functions.count; i++) {
        const LoFunction *f = loops->functions.data[i];
        if (!f->is_kernel) /* shared by kernels */
            continue;
        assert_true(f->n_origins > LO_ORIGIN_WHOLE);
        Seen seen = {f, ARENA_ARRAY(job.arena, int, f->n_origins)};
        see_block(&seen, f->body);
        for (int origin = LO_ORIGIN_PARTS; origin < f->n_origins; origin++)
            parts += seen.ops[origin] > 0;
    }
    assert_true(parts > 50);
    arena_free(job.arena);
}

static void test_models(void **state)
{
    (void)state;
    static const char *const models[] = {"models/multi30k_tiny.tfg", "models/gpt.tfg",
                                         "models/t5.tfg", "models/pronounce.tfg"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        check(models[i], "train_step", "x86-64-v3", NULL);
        check(models[i], "train_step", "x86-64-v4", "built");
        check(models[i], "forward", "x86-64-v4", NULL);
        check(models[i], "forward", "x86-64", NULL);
    }
}

/* The line of the text's first occurrence. */
static int line_of(const Source *source, const char *text)
{
    const char *found = strstr(source->text, text);
    int line = 1;
    assert_non_null(found);
    for (const char *at = source->text; at < found; at++)
        line += *at == '\n';
    return line;
}

/* Roots are of the line that says rsqrt, a norm's sums of that line and the one before. */
static int count_roots(const LoFunction *f, const LoBlock *block, int line)
{
    int roots = 0;
    FOR_LOOP_OPS (op, block) {
        const Loc *loc = f->origins[op->origin];
        if (op->kind == LO_sqrt) {
            assert_string_equal(file_name(loc->source->path), "prelude.tfg");
            assert_int_equal(loc->line, line);
            roots++;
        }
        if (op->kind == LO_accumulate)
            assert_true(loc->line == line || loc->line == line - 1);
        roots += (op->body ? count_roots(f, op->body, line) : 0) +
                 (op->other ? count_roots(f, op->other, line) : 0);
    }
    return roots;
}

static bool has_root(const LoBlock *block)
{
    FOR_LOOP_OPS (op, block)
        if (op->kind == LO_sqrt || (op->body && has_root(op->body)) ||
            (op->other && has_root(op->other)))
            return true;
    return false;
}

static void test_lines(void **state)
{
    (void)state;
    Job job = {.arena = arena_new()};
    int roots = 0;
    diag_init(&job.diags, job.arena);
    const Source *prelude = file_read(&job.diags, job.arena, "models/lib/prelude.tfg", 1 << 20);
    assert_non_null(prelude);
    int line = line_of(prelude, "rsqrt(mean(centred * centred, -1) + eps)");
    LoModule *loops = loops_of(&job, "models/multi30k_tiny.tfg", "forward", "x86-64-v3", NULL);
    for (size_t i = 0; i < loops->functions.count; i++) {
        const LoFunction *f = loops->functions.data[i];
        if (f->is_kernel && has_root(f->body))
            roots += count_roots(f, f->body, line);
    }
    assert_true(roots > 1);
    arena_free(job.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models), cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
