/* Small functions for the oracle; see cases.h. */
#include "tests/oracle/cases.h"

#include "ir/text.h"

static const char header[] =
    "module \"case\" dim B dim E dim S ragged B dim T ragged B dim L ragged B dim P ragged B "
    "dim Q ragged B param \"w\" : f32[2] param \"cache\" : f32[B, P~, 2] {role = state} func f {\n";

static const int32_t lengths[][2] = {{3, 1}, {2, 3}, {1, 0}, {3, 2}, {1, 2}};
static const OracleDim dims[] = {{2, NULL},       {0, NULL},       {3, lengths[0]}, {3, lengths[1]},
                                 {1, lengths[2]}, {3, lengths[3]}, {2, lengths[4]}};

OracleResult case_run(const OracleCase *c, DType compute)
{
    static const char *const names[] = {"a", "b", "c"};
    OracleResult r = {.arena = arena_new()};
    Text text = {0};
    text_add(&text, "%s", header);
    OracleTensor given[MOST_OPERANDS + 2] = {0};
    int n = 0;
    for (int i = 0; i < MOST_OPERANDS && c->type[i]; i++, n++) {
        text_add(&text, "  %%%d = input {name = \"%s\"} : %s\n", i, names[i], c->type[i]);
        given[n] = (OracleTensor){
            .name = names[i], .count = c->given[i].n, .data = (double *)c->given[i].x};
    }
    static double w[] = {0.5, -2}, cache[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    given[n++] = (OracleTensor){.name = "w", .count = 2, .data = w};
    given[n++] = (OracleTensor){.name = "cache", .count = 10, .data = cache};
    text_add(&text, "  %s\n  output %%9 {name = \"y\"}\n}\n", c->body);
    diag_init(&r.diags, r.arena);
    const char *source = text_keep(r.arena, &text);
    r.module = ir_parse(r.arena, &r.diags, diag_source(r.arena, "case", source, strlen(source)));
    if (r.module && !ir_verify(r.module, &r.diags))
        r.module = NULL;
    r.run = (OracleRun){
        .dims = dims, .seed = 7, .step = 3, .compute = compute, .given = given, .n_given = n};
    if (r.module && oracle_run(module_function(r.module, "f"), &r.run, r.arena, &r.diags))
        r.out = &r.run.outputs.data[0];
    r.run.given = NULL;
    return r;
}

void case_free(OracleResult *result) { arena_free(result->arena); }
