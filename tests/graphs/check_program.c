/* Programs against the oracle, and against each other bit for bit. */
#include "tests/graphs/program.h"

#include <math.h>
#include <string.h>

static Outcome differs(const OracleTensor *t, const char *kind, int64_t i, double have, int batch,
                       int step)
{
    return outcome(
        RESULT_DIFFERS, kind,
        "element %lld of %s %s is %.9g, by the oracle %.9g (tolerance %.3g; batch %d, run %d)",
        (long long)i, kind, t->name, have, t->data[i], oracle_tolerance(t, i), batch, step);
}

/* What a program gave against what the oracle gave. */
static Outcome compare(Program *program, const OracleTensors *list, bool params, int batch,
                       int step, Seen *seen)
{
    const char *kind = params ? "param" : "output";
    for (size_t k = 0; k < list->count; k++) {
        const OracleTensor *t = &list->data[k];
        int64_t count;
        const void *data = params ? program_param(program, t->name, &count)
                                  : program_output(program, t->name, &count);
        if (!data || (count >= 0 && count != t->count))
            return outcome(RESULT_DIFFERS, kind, "%s %s has %lld elements, by the oracle %lld",
                           kind, t->name, data ? (long long)count : -1, (long long)t->count);
        for (int64_t i = 0; i < t->count; i++) {
            if (t->exists && !t->exists[i])
                continue;
            double have = load_value(t->type.dtype, data, i);
            if (!oracle_agrees(t, i, have))
                return differs(t, kind, i, have, batch, step);
            seen->elements++;
            seen->decided += oracle_tolerance(t, i) <= 1e-2 * (1 + fabs(t->data[i]));
        }
    }
    return outcome_ok();
}

static bool changes_params(const Function *function)
{
    return function_has(function, OP_assign) || function_has(function, OP_append);
}

/* What integers are made of is the oracle's business, too: it gets the function that has them. */
static bool round_plain(Opened *plain, const Run *run)
{
    PipelineOptions options = run_pipeline(run);
    options.after = "quantize";
    return !precision_quant(run->precision) ||
           pipeline_run(plain->function, &options, &plain->diags);
}

/* Steps: params that change are those of the program at each. */
Outcome check_program(const Case *c, const Run *run, Build build, Seen *seen)
{
    Opened opened, plain; /* one is lowered and run, the other is the oracle's */
    Program program = {0};
    Outcome out = outcome_ok();
    bool ok = case_open(&opened, c, run),
         ok_plain = case_open(&plain, c, run) && round_plain(&plain, run);
    if (!ok || !ok_plain)
        out = outcome_of_diags(RESULT_INVALID, ok ? &plain.diags : &opened.diags, "open");
    else
        out = program_make(&program, &opened, c, run, build, seen);
    DType compute = run->precision == PRODUCTS_BF16 ? DT_BF16 : DT_F64;
    int step = 0, steps = out.result == RESULT_OK && changes_params(plain.function) ? 2 : 1;
    bool given_once = false;
    for (int b = 0; b < c->n_batches && out.result == RESULT_OK; b++) {
        Given given = give_leaves(&plain, c, &c->batches[b]);
        for (int s = 0; s < steps && out.result == RESULT_OK; s++) {
            if (!given_once || function_has(plain.function, OP_append))
                program_give(&program, &given);
            given_once = true;
            program_params(&program, &given);
            OracleRun want;
            if (!oracle_of(&plain, c, &c->batches[b], &given, (uint64_t)++step, compute, &want))
                out = outcome_of_diags(RESULT_INVALID, &plain.diags, "oracle");
            else if (!program_run(&program, &c->batches[b], &given, (uint64_t)step, run->threads))
                out = opened.diags.errors ? outcome_of_diags(RESULT_DIFFERS, &opened.diags, "run")
                                          : outcome(RESULT_DIFFERS, "run", "exec_run fails");
            else
                out = compare(&program, &want.outputs, false, b, step, seen);
            if (out.result == RESULT_OK)
                out = compare(&program, &want.assigned, true, b, step, seen);
        }
    }
    if (ok)
        program_free(&program);
    case_close(&opened);
    case_close(&plain);
    return out;
}

/* ---- bit for bit ---- */

/* What two programs gave: floats by their bits, positions that do not exist left out. */
static Outcome compare_bits(Program *a, Program *b, const OracleTensors *list, bool params,
                            int step)
{
    static const int bytes[] = {4, 8, 2, 4, 1};
    const char *kind = params ? "param" : "output";
    for (size_t k = 0; k < list->count; k++) {
        const OracleTensor *t = &list->data[k];
        int64_t n, m;
        const char *x = params ? program_param(a, t->name, &n) : program_output(a, t->name, &n);
        const char *y = params ? program_param(b, t->name, &m) : program_output(b, t->name, &m);
        if (!x || !y || n != m)
            return outcome(RESULT_DIFFERS, kind, "only one of two has %s %s", kind, t->name);
        int size = bytes[t->type.dtype];
        for (int64_t i = 0; i < t->count; i++)
            if ((!t->exists || t->exists[i]) && memcmp(x + i * size, y + i * size, (size_t)size))
                return outcome(RESULT_DIFFERS, kind,
                               "element %lld of %s %s is %.17g and %.17g (run %d)", (long long)i,
                               kind, t->name, load_value(t->type.dtype, x, i),
                               load_value(t->type.dtype, y, i), step);
    }
    return outcome_ok();
}

/* The other way to get the same bits. */
static Run other_run(Check check, const Run *run)
{
    Run other = *run;
    if (check == CHECK_THREADS)
        other.threads = 3;
    if (check == CHECK_BUDGET)
        other.budget = -1;
    return other;
}

Outcome check_same_bits(const Case *c, Check check, const Run *run, Seen *seen)
{
    Opened opened[3];
    Program programs[2] = {{0}};
    Outcome out = outcome_ok();
    Run runs[2] = {*run, other_run(check, run)};
    const bool here = check == CHECK_LIBRARY;
    if (here || check == CHECK_CPUS || check == CHECK_C_BITS)
        runs[0].gemm = runs[1].gemm = GEMM_NATIVE;
    if (check == CHECK_CPUS || check == CHECK_C_BITS) {
        runs[0].cpu = NULL;
        runs[1].cpu = "x86-64-v3";
    }
    if (here) {
        runs[0].cpu = runs[1].cpu = run->cpu ? run->cpu : "native";
    }
    bool ok = true;
    for (int i = 0; i < 3; i++)
        ok = case_open(&opened[i], c, run) && ok;
    if (!ok)
        out = outcome_of_diags(RESULT_INVALID, &opened[0].diags, "open");
    for (int i = 0; i < 2 && out.result == RESULT_OK; i++)
        out = program_make(&programs[i], &opened[i], c, &runs[i],
                           !i                      ? BUILD_HERE
                           : here                  ? BUILD_LIBRARY
                           : check == CHECK_C_BITS ? BUILD_C
                                                   : BUILD_HERE,
                           seen);
    int steps = ok && changes_params(opened[2].function) ? 2 : 1, step = 0;
    for (int b = 0; b < c->n_batches && out.result == RESULT_OK; b++) {
        Given given = give_leaves(&opened[2], c, &c->batches[b]);
        OracleRun shape; /* names, and which elements exist */
        if (!oracle_of(&opened[2], c, &c->batches[b], &given, 1, DT_F64, &shape))
            out = outcome_of_diags(RESULT_INVALID, &opened[2].diags, "oracle");
        for (int s = 0; s < steps && out.result == RESULT_OK; s++) {
            step++;
            for (int i = 0; i < 2 && out.result == RESULT_OK; i++) {
                if (step == 1 || function_has(opened[2].function, OP_append))
                    program_give(&programs[i], &given);
                if (!program_run(&programs[i], &c->batches[b], &given, (uint64_t)step,
                                 runs[i].threads))
                    out = outcome(RESULT_DIFFERS, "run", "exec_run fails");
            }
            if (out.result == RESULT_OK)
                out = compare_bits(&programs[0], &programs[1], &shape.outputs, false, step);
            if (out.result == RESULT_OK)
                out = compare_bits(&programs[0], &programs[1], &shape.assigned, true, step);
        }
    }
    for (int i = 0; i < 2; i++)
        program_free(&programs[i]);
    for (int i = 0; i < 3; i++)
        case_close(&opened[i]);
    return out;
}
