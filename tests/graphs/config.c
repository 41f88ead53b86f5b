/* Which checks a graph gets: the cheap ones always, programs some ways at random. */
#include "base/cpu.h"
#include "codegen/c/opencl.h"
#include "ir/text.h"
#include "tests/graphs/graphs.h"

#include <string.h>

static bool model_has(const Case *c, const char *text) { return strstr(c->text, text) != NULL; }

/* Differences see through `stop_gradient`, and the steps of what is rounded. */
static bool has_slopes(const Case *c)
{
    return !model_has(c, " stop_gradient ") && !model_has(c, "dtype = f32}") &&
           !model_has(c, "bf16") && !model_has(c, "quant = ");
}

static const char *some_function(const Case *c, Rng *rng)
{
    static const char *const of_loss[] = {
        "gradient",   "gradient", "gradient", "train_step", "train_step.adamw", "train_step.sgd",
        "accumulate", "update",   "loss",     "model",      "forward"};
    if (model_has(c, "{name = \"loss\"}"))
        return RNG_PICK(rng, of_loss);
    return rng_chance(rng, 15) ? "forward" : "model";
}

/* All but one, or what is needed and one more. */
static const char *some_passes(Arena *arena, Rng *rng)
{
    const PassInfo *pass = &pass_info[rng_below(rng, pass_count)];
    if (rng_chance(rng, 50)) {
        if (pass->at_O0 && strcmp(pass->name, "round_products") && strcmp(pass->name, "recompute"))
            return NULL; /* nothing runs without it */
        return arena_printf(arena, "-%s", pass->name);
    }
    const char *list = "";
    for (int i = 0; i < pass_count; i++)
        if (strcmp(pass_info[i].name, "quantize") &&
            ((pass_info[i].at_O0 && strcmp(pass_info[i].name, "precision")) ||
             &pass_info[i] == pass))
            list = arena_printf(arena, "%s%s%s", list, *list ? "," : "", pass_info[i].name);
    return list;
}

/* Levels that this machine runs; NULL: all that it has. */
static const char *some_cpu(Rng *rng)
{
    static const char *const levels[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
    int most = cpu_level() - 1;
    return most < 1 || rng_chance(rng, 50) ? NULL : levels[rng_below(rng, most > 3 ? 3 : most)];
}

static void set_types(Run *run, Rng *rng, bool precise, bool trains)
{
    int kind = rng_below(rng, 100);
    run->real = kind < 40 && !precise ? DT_F32 : DT_F64;
    if (kind < 16 && !precise)
        run->precision = PRODUCTS_BF16;
    if (kind >= 16 && kind < 32 && !precise && !trains)
        run->precision =
            precision_of_quant((Quant)rng_between(rng, QUANT_NONE + 1, QUANT_COUNT - 1));
    if (run->passes && strstr(run->passes, "precision") && *run->passes != '-') {
        run->real = DT_F32; /* naming it asks for it */
        run->precision = PRODUCTS_BF16;
    }
}

static void set_target(Run *run, Rng *rng)
{
    run->cpu = some_cpu(rng);
    run->gemm = (GemmChoice)rng_below(rng, 3);
    if (rng_chance(rng, 8))
        run->scalar = true;
    if (rng_chance(rng, 25))
        run->threads = 3;
}

/* Functions that train take no integers. */
static bool trains(const Case *c, const char *function)
{
    return model_has(c, "  assign ") ||
           (strcmp(function, "model") && strcmp(function, "forward") && strcmp(function, "loss"));
}

static Run some_run(Arena *arena, const Case *c, Rng *rng, bool precise)
{
    Run run = run_defaults();
    run.function = some_function(c, rng);
    run.opt_level = rng_chance(rng, 20) ? 0 : 2;
    if (rng_chance(rng, 30) && run.opt_level)
        run.passes = some_passes(arena, rng);
    set_types(&run, rng, precise, trains(c, run.function));
    if (rng_chance(rng, 10))
        run.budget = rng_chance(rng, 50) ? 0 : rng_below(rng, 20000);
    return run;
}

static void add(Arena *arena, Tasks *tasks, Check check, Run run)
{
    vec_push(arena, *tasks, ((Task){check, run}));
}

void plan_tasks(Arena *arena, const Case *c, Rng *rng, Tasks *out)
{
    bool loss = model_has(c, "{name = \"loss\"}");
    Run run = some_run(arena, c, rng, false);
    if (rng_chance(rng, 20))
        add(arena, out, CHECK_TEXT, run);
    run = some_run(arena, c, rng, rng_chance(rng, 70));
    add(arena, out, CHECK_PASSES, run);
    run = run_defaults();
    run.function = "forward";
    if (model_has(c, "{name = \"tokens\"}"))
        add(arena, out, CHECK_STEPS, run);
    if (rng_chance(rng, 50))
        add(arena, out, CHECK_CAUSAL, run);
    if (loss && rng_chance(rng, 35) && has_slopes(c)) {
        Run gradient = run_defaults();
        gradient.function = rng_chance(rng, 60) ? "gradient" : "gradient.quiet";
        add(arena, out, CHECK_DIFFERENCES, gradient);
    }
    for (int n = rng_chance(rng, 80) + rng_chance(rng, 20); n; n--) {
        run = some_run(arena, c, rng, false);
        set_target(&run, rng);
        add(arena, out, CHECK_PROGRAM, run);
    }
    if (rng_chance(rng, 6)) {
        run.threads = 1;
        add(arena, out, CHECK_THREADS, run);
    }
    if (rng_chance(rng, 5)) {
        run.threads = 1;
        run.budget = rng_chance(rng, 50) ? 0 : rng_below(rng, 20000);
        run.function = loss ? "gradient" : run.function;
        if (loss && precision_quant(run.precision))
            run.precision = PRODUCTS_AS_TYPED;
        add(arena, out, CHECK_BUDGET, run);
    }
    if (rng_chance(rng, 1)) {
        run = some_run(arena, c, rng, false);
        add(arena, out, CHECK_LIBRARY, run);
    }
    if (cpu_level() >= 3 && rng_chance(rng, 40)) {
        run = some_run(arena, c, rng, false);
        add(arena, out, CHECK_CPUS, run);
    }
    if (cpu_level() >= 3 && rng_chance(rng, 1)) {
        run = some_run(arena, c, rng, false);
        add(arena, out, CHECK_C_BITS, run);
    }
    if (rng_chance(rng, 2)) { /* a second of cc each */
        static const char *const vectors[] = {NULL, "x86-64-v3", "x86-64", "generic"};
        run = some_run(arena, c, rng, false);
        run.cpu = vectors[rng_below(rng, 4)];
        add(arena, out, CHECK_C, run);
    }
    if (rng_chance(rng, 15)) {
        run = some_run(arena, c, rng, false);
        set_target(&run, rng);
        add(arena, out, CHECK_INTERPRETED, run);
    }
    if (rng_chance(rng, 3) && opencl_is_here()) { /* some seconds of the device's compiler */
        run = some_run(arena, c, rng, false);
        run.passes = OPENCL_PASSES;
        run.budget = -1;
        if (!model_has(c, " = append") && !model_has(c, "quant = ") &&
            !precision_quant(run.precision))
            add(arena, out, CHECK_OPENCL, run);
    }
}

/* ---- all of them, for golden cases ---- */

static void add_programs(Arena *arena, Tasks *out, const char *function)
{
    static const struct {
        DType real;
        ProductPrecision precision;
    } types[] = {{DT_F64, PRODUCTS_AS_TYPED}, {DT_F32, PRODUCTS_AS_TYPED}, {DT_F32, PRODUCTS_BF16}};
    Run run = run_defaults();
    run.function = function;
    for (int t = 0; t < 3; t++)
        for (int level = 0; level <= 2; level += 2) {
            run.real = types[t].real;
            run.precision = types[t].precision;
            run.opt_level = level;
            add(arena, out, CHECK_PASSES, run);
            add(arena, out, CHECK_PROGRAM, run);
        }
    run = run_defaults();
    run.function = function;
    run.gemm = GEMM_NATIVE;
    run.cpu = cpu_level() >= 2 ? "x86-64-v2" : NULL;
    add(arena, out, CHECK_PROGRAM, run);
    add(arena, out, CHECK_THREADS, run_defaults());
    vec_last(*out).run.function = function;
}

void plan_all_tasks(Arena *arena, const Case *c, const Run *own, Tasks *out)
{
    add(arena, out, CHECK_TEXT, run_defaults());
    add_programs(arena, out, own->function);
    if (model_has(c, "{name = \"loss\"}") && has_slopes(c)) {
        Run gradient = run_defaults();
        gradient.function = "gradient";
        add(arena, out, CHECK_DIFFERENCES, gradient);
    }
}
