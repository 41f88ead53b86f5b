/* The checks by name, and what they share. */
#include "ir/text.h"
#include "tests/graphs/graphs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const check_names[CHECK_COUNT] = {
    [CHECK_TEXT] = "text",       [CHECK_PASSES] = "passes",
    [CHECK_PROGRAM] = "program", [CHECK_INTERPRETED] = "interpreted",
    [CHECK_THREADS] = "threads", [CHECK_BUDGET] = "budget",
    [CHECK_LIBRARY] = "library", [CHECK_CPUS] = "cpus",
    [CHECK_C_BITS] = "c bits",   [CHECK_C] = "c",
    [CHECK_OPENCL] = "opencl",   [CHECK_DIFFERENCES] = "differences",
    [CHECK_CAUSAL] = "causal",   [CHECK_STEPS] = "steps",
};
const char *const result_names[RESULT_COUNT] = {
    [RESULT_OK] = "ok",           [RESULT_REFUSED] = "refused", [RESULT_DIFFERS] = "differs",
    [RESULT_INVALID] = "invalid", [RESULT_CRASHED] = "crashed", [RESULT_TIMEOUT] = "timeout",
};

Outcome outcome(Result result, const char *where, const char *format, ...)
{
    Outcome out = {.result = result, .where = where};
    va_list args;
    va_start(args, format);
    vsnprintf(out.message, sizeof out.message, format, args);
    va_end(args);
    return out;
}

Outcome outcome_of_diags(Result result, const Diagnostics *diags, const char *where)
{
    Text text = {0};
    diag_render(diags, &text);
    Outcome out = outcome(result, where, "%s", text.data ? text.data : "without a message");
    text_free(&text);
    return out;
}

void note_function(const Function *function, Seen *seen)
{
    int chunk = NO_CHUNK;
    seen->programs++;
    FOR_OPS (op, &function->body) {
        seen->rows += op->kind == OP_row;
        seen->columns += op->kind == OP_column;
        seen->attentions += op->kind == OP_attention;
        seen->epilogues += op_attr(op, ATTR_epilogue) != NULL;
        seen->panels += op_attr(op, ATTR_panels) != NULL;
        seen->kept += op->kind == OP_keep;
        seen->chunks += op_chunk(op) != NO_CHUNK && op_chunk(op) != chunk;
        chunk = op_chunk(op);
    }
}

/* Printing and reading again gives the same; every row of the table has words for its parts. */
Outcome check_text(const Case *c, const Run *run)
{
    Opened opened;
    Outcome out = outcome_ok();
    if (!case_open(&opened, c, run))
        out = outcome_of_diags(RESULT_INVALID, &opened.diags, "text");
    Text first = {0}, second = {0};
    for (int i = 0; i < 2 && out.result == RESULT_OK; i++) { /* before the passes and after */
        PipelineOptions options = run_pipeline(run);
        if (i && !pipeline_run(opened.function, &options, &opened.diags)) {
            out = outcome_of_diags(RESULT_INVALID, &opened.diags, "passes");
            break;
        }
        function_number(opened.function);
        first.length = second.length = 0;
        ir_print_module(opened.module, &first);
        Module *again = ir_parse(opened.arena, &opened.diags,
                                 diag_source(opened.arena, "again.tir", first.data, first.length));
        if (!again || !ir_verify(again, &opened.diags)) {
            out = outcome_of_diags(RESULT_INVALID, &opened.diags, "again");
            break;
        }
        ir_print_module(again, &second);
        if (first.length != second.length || memcmp(first.data, second.data, first.length))
            out = outcome(RESULT_DIFFERS, "again",
                          "printed, read and printed again it is another text");
    }
    text_free(&first);
    text_free(&second);
    case_close(&opened);
    return out;
}

Outcome check_case(const Case *c, Check check, const Run *run, Seen *seen)
{
    switch (check) {
    case CHECK_TEXT: return check_text(c, run);
    case CHECK_PASSES: return check_passes(c, run, seen);
    case CHECK_PROGRAM: return check_program(c, run, BUILD_HERE, seen);
    case CHECK_INTERPRETED: return check_program(c, run, BUILD_INTERPRETED, seen);
    case CHECK_C: return check_program(c, run, BUILD_C, seen);
    case CHECK_OPENCL: return check_program(c, run, BUILD_OPENCL, seen);
    case CHECK_DIFFERENCES: return check_differences(c, run, seen);
    case CHECK_CAUSAL: return check_causal(c, run, seen);
    case CHECK_STEPS: return check_steps(c, run, seen);
    default: return check_same_bits(c, check, run, seen);
    }
}
