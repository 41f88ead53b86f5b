/* The ranges of an input's numbers that follow from what a model does with them: a small graph and
 * the ranges of its input `x`, as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/id_uses.h"
#include "ir/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* RangeCase: the graph makes %90 of the input %0 = x, of this type (", vocab": with a vocabulary;
 * ", made": the runtime makes it of another input), and gives it out; %1 = w is f32[6, 2],
 * %2 = other i32[B, T~], %3 = logits f32[B, 5]. C is S + T. Ranges: "0-5" for 0 ≤ x ≤ 5, "-5" where
 * numbers below 0 are allowed, "1-4 of 0-1/6" for elements 0 and 1 of each 6; an `l` stands before
 * those of labels. */
typedef struct RangeCase {
    const char *what, *x, *body, *ranges;
} RangeCase;

static const char head[] =
    "module \"m\" dim B dim S ragged B dim T ragged B dim C ragged B = (1 S + 1 T + 0) / 1\n"
    "param \"w\" : f32[6, 2] param \"e\" : f32[4, 3, 2]\n"
    "func model {\n";
static const char leaves[] = "%1 = param {name = \"w\"} : f32[6, 2]\n"
                             "%2 = input {name = \"other\"} : i32[B, T~]\n"
                             "%3 = input {name = \"logits\"} : f32[B, 5]\n";

#define LOOKED_UP(shape) "%90 = gather %1, %10 : f32[" shape ", 2]"
/* A cross-entropy of logits %3 and labels %10, i32[B, 1]; the row's loss is %16. */
#define CHOSEN                                                                             \
    "%11 = iota : i32[5] %12 = eq %10, %11 : bool[B, 5] %13 = const {value = 0} : f32[] "  \
    "%14 = select %12, %3, %13 : f32[B, 5] %15 = reduce_sum %14 {axes = [1]} : f32[B, 1] " \
    "%16 = logsumexp %3 : f32[B, 1] %17 = sub %16, %15 : f32[B, 1] "
#define LABELLED                                                      \
    "%18 = const {value = 0} : i32[] %19 = le %18, %10 : bool[B, 1] " \
    "%20 = cast %19 {dtype = f32} : f32[B, 1] "
#define SUMMED "%21 = mul %17, %20 : f32[B, 1] %90 = reduce_sum %21 {axes = [0, 1]} : f32[1, 1]"
#define AS_LABELS "%10 = reshape %0 {shape = [B, 1]} : i32[B, 1] "

static const RangeCase cases[] = {
    {"a table's rows", "i32[B]", "%90 = gather %1, %0 : f32[B, 2]", "0-5"},
    {"matrices", "i32[B]",
     "%10 = param {name = \"e\"} : f32[4, 3, 2] %11 = const {value = 1} : f32[B, 3] "
     "%90 = grouped_dot %11, %10, %0 {axis = 1} : f32[B, 2]",
     "0-3"},
    {"nothing is made of it", "i32[B]",
     "%10 = gather %1, %0 : f32[B, 2] %90 = const {value = 1} : f32[]", ""},
    {"other shapes and types", "i32[B, 3, 2]",
     "%4 = reshape %0 {shape = [B, 6]} : i32[B, 6] %5 = transpose %4 {perm = [1, 0]} : i32[6, B] "
     "%6 = flip %5 {axis = 0} : i32[6, B] %7 = cast %6 {dtype = f32} : f32[6, B] "
     "%8 = stop_gradient %7 : f32[6, B] %10 = cast %8 {dtype = i32} : i32[6, B] " LOOKED_UP("6, B"),
     "0-5"},
    {"changed by arithmetic", "i32[B]",
     "%4 = const {value = 1} : i32[] %10 = sub %0, %4 : i32[B] " LOOKED_UP("B"), ""},
    {"rounded to bf16", "i32[B]",
     "%4 = cast %0 {dtype = bf16} : bf16[B] %10 = cast %4 {dtype = i32} : i32[B] " LOOKED_UP("B"),
     ""},
    {"stretched by a constant", "i32[B, 1]",
     "%10 = broadcast %0 {shape = [B, 3]} : i32[B, 3] " LOOKED_UP("B, 3"), "0-5"},
    {"stretched along rows that may be empty", "i32[B, 1]",
     "%10 = broadcast %0 {shape = [B, S~]} : i32[B, S~] " LOOKED_UP("B, S~"), ""},
    {"a part", "i32[B, 3, 2]",
     "%10 = slice %0 {axis = 1, start = 1, size = 1} : i32[B, 1, 2] " LOOKED_UP("B, 1, 2"),
     "0-5 of 2-3/6"},
    {"a part of a part", "i32[B, 5]",
     "%4 = slice %0 {axis = 1, start = 1, size = 4} : i32[B, 4] "
     "%10 = slice %4 {axis = 1, start = 2, size = 2} : i32[B, 2] " LOOKED_UP("B, 2"),
     "0-5 of 3-4/5"},
    {"a part in front of rows", "i32[2, B]",
     "%10 = slice %0 {axis = 0, start = 1, size = 1} : i32[1, B] " LOOKED_UP("1, B"), ""},
    {"a part of other axes", "i32[B, 6]",
     "%4 = reshape %0 {shape = [B, 2, 3]} : i32[B, 2, 3] "
     "%10 = slice %4 {axis = 1, start = 1, size = 1} : i32[B, 1, 3] " LOOKED_UP("B, 1, 3"),
     ""},
    {"parts of two uses", "i32[B, 2]",
     "%4 = slice %0 {axis = 1, start = 0, size = 1} : i32[B, 1] "
     "%5 = slice %0 {axis = 1, start = 1, size = 1} : i32[B, 1] "
     "%6 = gather %1, %4 : f32[B, 1, 2] %7 = param {name = \"e\"} : f32[4, 3, 2] "
     "%8 = gather %7, %5 : f32[B, 1, 3, 2] %9 = reduce_sum %8 {axes = [2]} : f32[B, 1, 1, 2] "
     "%10 = reshape %9 {shape = [B, 1, 2]} : f32[B, 1, 2] %90 = add %6, %10 : f32[B, 1, 2]",
     "0-5 of 0-0/2, 0-3 of 1-1/2"},
    {"beside others", "i32[B, 2]",
     "%4 = const {value = 9} : i32[B, 3] %5 = concat %4, %0 {axis = 1} : i32[B, 5] "
     "%10 = pad %5 {axis = 1, start = 1, size = 7} : i32[B, 7] " LOOKED_UP("B, 7"),
     "0-5"},
    {"behind another text", "i32[B, S~]",
     "%4 = iota : i32[1, C~] %5 = lookup %0, %4 {axis = 1} : i32[B, C~] "
     "%6 = lengths {dim = S} : i32[B, 1] %7 = iota : i32[1, C~] %8 = sub %7, %6 : i32[B, C~] "
     "%9 = lookup %2, %8 {axis = 1} : i32[B, C~] %10 = add %5, %9 : i32[B, C~] " LOOKED_UP("B, C~"),
     "0-5"},
    {"upon another text", "i32[B, S~]",
     "%4 = iota : i32[1, C~] %5 = lookup %0, %4 {axis = 1} : i32[B, C~] "
     "%9 = lookup %2, %4 {axis = 1} : i32[B, C~] %10 = add %5, %9 : i32[B, C~] " LOOKED_UP("B, C~"),
     ""},
    {"moved by one", "i32[B, S~]",
     "%4 = iota : i32[1, S~] %5 = const {value = 1} : i32[] %6 = sub %4, %5 : i32[1, S~] "
     "%10 = lookup %0, %6 {axis = 1} : i32[B, S~] " LOOKED_UP("B, S~"),
     ""},
    {"positions of a lookup", "i32[B, 1]", "%90 = lookup %3, %0 {axis = 1} : f32[B, 1]", ""},
    {"where chance chooses", "i32[B]",
     "%4 = random {site = 0} : f32[B] %5 = const {value = 0.5} : f32[] %6 = lt %4, %5 : bool[B] "
     "%7 = const {value = 3} : i32[] %10 = select %6, %7, %0 : i32[B] " LOOKED_UP("B"),
     "0-5"},
    {"where chance is sure", "i32[B]",
     "%4 = random {site = 0} : f32[B] %5 = const {value = 1} : f32[] %6 = lt %4, %5 : bool[B] "
     "%7 = const {value = 3} : i32[] %10 = select %6, %7, %0 : i32[B] " LOOKED_UP("B"),
     ""},
    {"where the number itself chooses", "i32[B]",
     "%4 = const {value = 0} : i32[] %5 = le %4, %0 : bool[B] %10 = select %5, %0, %4 : i32[B] " LOOKED_UP(
         "B"),
     ""},
    {"labels", "i32[B]", AS_LABELS CHOSEN LABELLED SUMMED, "l-4"},
    {"labels as floats", "i32[B]",
     "%4 = cast %0 {dtype = f32} : f32[B] %10 = reshape %4 {shape = [B, 1]} : f32[B, 1] "
     "%9 = iota : i32[5] %11 = cast %9 {dtype = f32} : f32[5] %12 = eq %10, %11 : bool[B, 5] "
     "%13 = const {value = 0} : f32[] %14 = select %12, %3, %13 : f32[B, 5] "
     "%15 = reduce_sum %14 {axes = [1]} : f32[B, 1] %17 = neg %15 : f32[B, 1] "
     "%18 = const {value = 0} : f32[] %19 = le %18, %10 : bool[B, 1] "
     "%20 = cast %19 {dtype = f32} : f32[B, 1] " SUMMED,
     "l-4"},
    {"smoothed", "i32[B]",
     AS_LABELS
     "%11 = iota : i32[5] %12 = eq %10, %11 : bool[B, 5] %13 = const {value = 0} : f32[] "
     "%14 = select %12, %3, %13 : f32[B, 5] %15 = reduce_sum %14 {axes = [1]} : f32[B, 1] "
     "%16 = const {value = 0.9} : f32[] %4 = mul %16, %15 : f32[B, 1] "
     "%5 = logsumexp %3 : f32[B, 1] %6 = sub %5, %4 : f32[B, 1] "
     "%7 = const {value = 0.02} : f32[] %8 = reduce_sum %3 {axes = [1]} : f32[B, 1] "
     "%9 = mul %7, %8 : f32[B, 1] %17 = sub %6, %9 : f32[B, 1] " LABELLED SUMMED,
     "l-4"},
    {"rows with weights of their own", "i32[B]",
     AS_LABELS CHOSEN LABELLED
     "%4 = reduce_max %3 {axes = [1]} : f32[B, 1] %5 = mul %17, %4 : f32[B, 1] "
     "%21 = mul %5, %20 : f32[B, 1] %90 = reduce_sum %21 {axes = [0, 1]} : f32[1, 1]",
     ""},
    {"a mask of another number", "i32[B]",
     AS_LABELS CHOSEN "%18 = const {value = 9} : i32[] %19 = le %18, %10 : bool[B, 1] "
                      "%20 = cast %19 {dtype = f32} : f32[B, 1] " SUMMED,
     ""},
    {"classes without a mask", "i32[B]",
     AS_LABELS CHOSEN "%90 = reduce_sum %17 {axes = [0, 1]} : f32[1, 1]", ""},
    {"chosen logits that do not count", "i32[B]",
     AS_LABELS
     "%11 = iota : i32[5] %12 = eq %10, %11 : bool[B, 5] %13 = const {value = 0} : f32[] "
     "%14 = select %12, %3, %13 : f32[B, 5] %15 = reduce_sum %14 {axes = [1]} : f32[B, 1] "
     "%17 = mul %13, %15 : f32[B, 1] " LABELLED SUMMED,
     ""},
    {"a row's loss alone", "i32[B]", AS_LABELS CHOSEN LABELLED "%90 = mul %17, %20 : f32[B, 1]",
     ""},
    {"of CTC", "i32[B, S~]", "%4 = const {value = -1} : f32[B, T~, 7] %90 = ctc %4, %0 : f32[B]",
     "l1-6"},
    {"rows and labels", "i32[B]",
     AS_LABELS CHOSEN LABELLED
     "%21 = mul %17, %20 : f32[B, 1] %22 = reduce_sum %21 {axes = [0, 1]} : f32[1, 1] "
     "%23 = gather %1, %0 : f32[B, 2] %24 = reduce_sum %23 {axes = [0, 1]} : f32[1, 1] "
     "%90 = add %22, %24 : f32[1, 1]",
     "0-5"}, /* labels of fewer classes than rows do not count */
    {"next tokens", "i32[B], made", AS_LABELS CHOSEN LABELLED "%90 = mul %17, %20 : f32[B, 1]",
     "-4"},
    {"words where others may stand", "i32[B], vocab",
     "%4 = const {value = 0} : i32[] %5 = le %4, %0 : bool[B] %10 = select %5, %0, %4 : i32[B] " LOOKED_UP(
         "B"),
     "-5"},
};

static void put_range(Text *out, const IdRange *range)
{
    text_string(out, out->length ? ", " : "");
    text_string(out, range->labels ? "l" : "");
    if (range->least >= 0)
        text_add(out, "%" PRId64, range->least);
    text_add(out, "-%" PRId64, range->below - 1);
    if (!id_range_is_whole(range))
        text_add(out, " of %" PRId64 "-%" PRId64 "/%" PRId64, range->from, range->to - 1,
                 range->period);
}

static void expect_ranges(const RangeCase *c)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    Text text = {0}, found = {0};
    const char *kind = strchr(c->x, ']') + 1; /* behind the type */
    diag_init(&diags, arena);
    text_add(&text, "%s%%0 = input {name = \"x\"%s} : %.*s\n%s%s\noutput %%90 {name = \"y\"}\n}\n",
             head, !strcmp(kind, ", vocab") ? ", vocab = \"words\"" : "", (int)(kind - c->x), c->x,
             leaves, c->body);
    Module *module = ir_parse(arena, &diags, diag_source(arena, c->what, text.data, text.length));
    if (!module || !ir_verify(module, &diags))
        fail_msg("%s: %s", c->what, diags.list.data[0].message);
    const Function *model = module_function(module, "model");
    const IdRanges ranges = id_ranges(model, model->body.first, !strcmp(kind, ", made"));
    text_string(&found, "");
    for (int64_t i = 0; i < ranges.n; i++)
        put_range(&found, &ranges.at[i]);
    if (strcmp(found.data, c->ranges) != 0)
        fail_msg("%s: '%s', not '%s'", c->what, found.data, c->ranges);
    text_free(&text);
    text_free(&found);
    arena_free(arena);
}

static void test_ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_ranges(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
