/* What the language promises: names of params, sharing, replacing what a library
 * defines, settings, weights of foreign checkpoints, training. */
#include "frontend/frontend.h"
#include "ir/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

typedef struct Given {
    Arena *arena;
    Diagnostics diags;
    Model *model;
} Given;

static Given parse_with(const char *text, FrontendOptions options)
{
    Given g = {.arena = arena_new()};
    diag_init(&g.diags, g.arena);
    options.library = "models/lib";
    const Source *source = diag_source(g.arena, "models/test.tfg", text, strlen(text));
    g.model = model_parse(g.arena, &g.diags, source, &options);
    if (g.diags.errors) {
        Text shown = {0};
        diag_render(&g.diags, &shown);
        print_message("%s", shown.data);
        text_free(&shown);
    }
    return g;
}

static Given parse(const char *text) { return parse_with(text, (FrontendOptions){0}); }

static const ParamInfo *param(const Given *g, const char *name)
{
    const ParamInfo *info = module_param(g->model->module, name);
    if (!info)
        print_message("no param %s\n", name);
    assert_non_null(info);
    return info;
}

static int count_ops(const Given *g, OpKind kind)
{
    int n = 0;
    FOR_OPS (op, &module_function(g->model->module, "model")->body)
        n += op->kind == kind;
    return n;
}

static const Value *output(const Given *g, const char *name)
{
    FOR_OPS (op, &module_function(g->model->module, "model")->body)
        if (op->kind == OP_output && !strcmp(op_string(op, ATTR_name), name))
            return op->args[0];
    return NULL;
}

static void assert_type(const Given *g, const char *name, const char *type)
{
    assert_non_null(output(g, name));
    assert_string_equal(ir_type_text(g->model->module, &output(g, name)->type, g->arena), type);
}

static void ten_lines(void **state)
{
    (void)state;
    Given g = parse("use transformer\n"
                    "const vocab = 100, d_model = 32, d_ff = 64, heads = 4, layers = 2\n");
    assert_non_null(g.model);
    param(&g, "encoder.layer.0.self.query.weight");
    param(&g, "encoder.layer.1.feed_forward.outer.bias");
    param(&g, "decoder.layer.1.cross.output.weight");
    param(&g, "decoder.layer.0.cross_norm.gain");
    assert_null(module_param(g.model->module, "encoder.layer.2.self.query.weight"));
    assert_int_equal(param(&g, "embedding")->type.dims[0].size, 100);
    assert_int_equal(g.model->module->params.count, 1 + 2 * 16 + 2 * 26);
    assert_type(&g, "logits", "f32[B, T~, 100]");
    assert_type(&g, "loss", "f32[]");
    assert_true(symbol_is_ragged(g.model->module, module_symbol(g.model->module, "S")));
    assert_int_equal(count_ops(&g, OP_input), 3); /* src, tgt, tgt.next */
    arena_free(g.arena);
}

static void names_of_calls(void **state)
{
    (void)state;
    Given g = parse("input x : float[2, 8]\n"
                    "block two(x) { return linear(linear(x, 8), 8) }\n"
                    "block some_step(x) { return linear as inner(x, 8) }\n"
                    "y = two(x)\n"
                    "y = two as last(y)\n"
                    "repeat 2 as step { y = some_step(y) }\n"
                    "y = linear as _(y, 4)\n"
                    "output y\n");
    static const char *const names[] = {"two.linear.weight",
                                        "two.linear_2.weight",
                                        "last.linear.weight",
                                        "step.0.inner.weight",
                                        "step.1.inner.bias",
                                        "weight",
                                        "bias"};
    assert_non_null(g.model);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        param(&g, names[i]);
    arena_free(g.arena);
}

static void sharing_and_freezing(void **state)
{
    (void)state;
    Given g = parse("input x : float[2, 8]\n"
                    "param w : [8, 8] = normal(0, 0.5)\n"
                    "frozen param f : [8] = load(\"v.safetensors\", \"t\")\n"
                    "block both(x) { return x @ w @ transpose(w) + f }\n"
                    "y = both as a(x)\n"
                    "y = both as b(y)\n"
                    "y = linear as l(y, 8)\n"
                    "y = linear as same l(y, 8)\n"
                    "repeat 5 { y = linear as every(y, 8) }\n"
                    "output y\n");
    assert_non_null(g.model);
    assert_int_equal(g.model->module->params.count, 6);
    assert_int_equal(count_ops(&g, OP_param), 6);
    assert_int_equal(param(&g, "f")->role, PARAM_FROZEN);
    assert_int_equal(param(&g, "f")->init, INIT_FILE);
    assert_string_equal(param(&g, "f")->file, "models/v.safetensors");
    assert_string_equal(param(&g, "f")->tensor, "t");
    assert_true(param(&g, "w")->decay && !param(&g, "f")->decay);
    arena_free(g.arena);
}

static void replacing(void **state)
{
    (void)state;
    Given g = parse("use transformer\n"
                    "const vocab = 50, d_model = 16, heads = 2, layers = 1\n"
                    "frozen param embedding : [vocab, d_model] = load(\"v.safetensors\", \"t\")\n"
                    "param other : [vocab, d_model] = normal(0, 1)\n"
                    "block embed_target(tokens) { return other[tokens] }\n"
                    "block activation(x) { return silu(x) }\n"
                    "loss = mean(logits ^ 2)\n");
    assert_non_null(g.model);
    assert_int_equal(param(&g, "embedding")->role, PARAM_FROZEN);
    param(&g, "other");
    assert_int_equal(count_ops(&g, OP_relu), 0);
    assert_int_equal(count_ops(&g, OP_sigmoid), 2);
    assert_int_equal(count_ops(&g, OP_logsumexp), 0);
    arena_free(g.arena);
}

/* Whether the value is made of the other, through any number of ops. */
static bool made_of(const Value *value, const Value *other)
{
    if (value == other)
        return true;
    for (int i = 0; i < value->op->n_args; i++)
        if (made_of(value->op->args[i], other))
            return true;
    return false;
}

/* A statement that replaces a library's runs where that one stood, after what its file says
 * before it; the library's later statements read the new value. Its train block stays before
 * the using file's. */
static void replacing_what_is_read_later(void **state)
{
    (void)state;
    Given g = parse("use language_model\n"
                    "const vocab = 128, layers = 1, d_model = 32, heads = 4\n"
                    "train { clip_norm = 3 }\n"
                    "h = decoder as _(tokens)\n"
                    "repeat 2 as more { h = linear(h, d_model) }\n"
                    "output logits = 2 * project as _(h)\n"
                    "output twice = 2 * logits + loss\n");
    assert_non_null(g.model);
    assert_true(g.model->has_loss);
    assert_true(made_of(output(&g, "loss"), output(&g, "logits")));
    assert_true(made_of(output(&g, "twice"), output(&g, "loss")));
    assert_int_equal(output(&g, "logits")->op->kind, OP_mul);
    assert_true(g.model->train.clip_norm == 3);
    param(&g, "more.1.linear.weight");
    arena_free(g.arena);
}

static void settings_and_outputs(void **state)
{
    (void)state;
    Setting settings[] = {{"d_model", "32"},
                          {"layers", "1"},
                          {"d_ff", "2 * d_model"},
                          {"vocab", "90"},
                          {"heads", "4"}};
    const char *outputs[] = {"encoder.layer.*.self.weights", "decoder.layer.0.cross"};
    FrontendOptions options = {.settings = settings,
                               .n_settings = 5,
                               .float_type = DT_F64,
                               .outputs = outputs,
                               .n_outputs = 2};
    Given g = parse_with("use \"transformer_base.tfg\"\n", options);
    assert_non_null(g.model);
    assert_int_equal(param(&g, "encoder.layer.0.feed_forward.inner.weight")->type.dims[1].size, 64);
    assert_type(&g, "encoder.layer.0.self.weights", "f64[B, 4, S~, S~]");
    assert_type(&g, "decoder.layer.0.cross", "f64[B, T~, 32]");
    arena_free(g.arena);
}

/* A known condition gives a tensor of the shape and type that any other gives. */
static void known_conditions(void **state)
{
    (void)state;
    Given g = parse("input x : float[3, 4]\ninput k : int[4]\n"
                    "output nothing = mask(x, false)\n"
                    "output all = mask(x, true)\n"
                    "output number = select(true, 1, x)\n"
                    "output whole = select(true, k, x)\n"
                    "output rows = select(false, x, k)\n"
                    "output backwards = flip(x)\n");
    assert_int_equal(g.diags.errors, 0);
    static const char *const names[] = {"nothing", "all", "number", "whole", "rows", "backwards"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_type(&g, names[i], "f32[3, 4]");
    assert_int_equal(output(&g, "all")->op->kind, OP_input);
    assert_int_equal(output(&g, "backwards")->op->kind, OP_flip);
    assert_int_equal(op_int(output(&g, "backwards")->op, ATTR_axis), 1);
    arena_free(g.arena);
}

/* Calls that share their params merge them once; another value for the same param is an error. */
static void merged_once(void **state)
{
    (void)state;
    const char *part = "input x : float[3, 4]\n"
                       "block part(x, scale) {\n"
                       "  param w : [4, 4]\n  param a : [4, 4]\n"
                       "  merge w = w + a @ transpose(a) * scale\n"
                       "  return x @ w\n}\n";
    char text[512];
    snprintf(text, sizeof text, "%sy = x\nrepeat 3 { y = part(y, 2) }\noutput z = y\n", part);
    Given g = parse_with(text, (FrontendOptions){.merges = true});
    assert_int_equal(g.diags.errors, 0);
    assert_non_null(output(&g, "part.w"));
    arena_free(g.arena);
    snprintf(text, sizeof text, "%sy = part as p(x, 2)\noutput z = part as same p(y, 3)\n", part);
    g = parse(text);
    assert_int_equal(g.diags.errors, 1);
    arena_free(g.arena);
}

static void masks_cost_nothing(void **state)
{
    (void)state;
    Given g = parse("use transformer\nconst vocab = 50, d_model = 16, heads = 2, layers = 1\n");
    assert_non_null(g.model);
    int masks = 0; /* of the decoder's own attention alone */
    FOR_OPS (op, &module_function(g.model->module, "model")->body)
        masks += op->kind == OP_select && op->results[0].type.rank == 4;
    assert_int_equal(masks, 1);
    arena_free(g.arena);
}

static void weights(void **state)
{
    (void)state;
    Given g = parse_with("use \"gpt_nano_sort.tfg\"\n", (FrontendOptions){0});
    assert_non_null(g.model);
    assert_int_equal(g.model->weights.count, 5 + 3 * 16);
    assert_int_equal(g.model->weights.count, g.model->module->params.count);
    bool found = false;
    for (size_t i = 0; i < g.model->weights.count; i++) {
        const WeightMap *map = &g.model->weights.data[i];
        if (strcmp(map->ours, "layer.2.self.key.weight"))
            continue;
        found = true;
        assert_int_equal(map->n_parts, 1);
        const WeightPart *part = map->parts; /* [144, 48] there, [48, 48] here, transposed */
        assert_string_equal(part->theirs[0], "transformer.h.2.attn.c_attn.weight");
        assert_true(part->rank == 2 && part->axes[0].ours == 1 && part->axes[1].ours == 0);
        assert_true(part->axes[0].is_slice && part->axes[0].their_begin == 48 &&
                    part->axes[0].size == 48 && !part->axes[1].is_slice);
    }
    assert_true(found);
    arena_free(g.arena);
}

static void training(void **state)
{
    (void)state;
    Given g = parse("const n = 100\n"
                    "use transformer\n"
                    "const d_model = 64, vocab = 10, heads = 2, layers = 1\n"
                    "train {\n"
                    "  rate = cosine(peak = 0.1, steps = 10 * n, warmup = n)\n"
                    "  batch = sentences(32); patience = 3\n"
                    "}\n");
    assert_non_null(g.model);
    const TrainSpec *t = &g.model->train;
    assert_true(g.model->has_train && g.model->has_loss);
    assert_int_equal(t->optimizer, OPTIMIZER_ADAM); /* the library's */
    assert_true(t->beta2 == 0.98 && t->eps == 1e-9);
    assert_true(t->schedule == RATE_COSINE && t->rate_peak == 0.1 && t->rate_steps == 1000 &&
                t->warmup == 100 && t->rate_final == 0);
    assert_true(t->batch_tokens == 0 && t->batch_sentences == 32 && t->patience == 3 &&
                t->accumulate == 1);
    arena_free(g.arena);
}

static void variants(void **state)
{
    (void)state;
    Given g =
        parse_with("use \"../tests/golden/frontend/good_variants.tfg\"\n", (FrontendOptions){0});
    assert_non_null(g.model);
    assert_true(ir_verify(g.model->module, &g.diags));
    assert_type(&g, "by_alibi", "f32[B, 2, S~, S~]");
    assert_type(&g, "by_distance", "f32[B, 2, T~, T~]");
    assert_type(&g, "across", "f32[B, 2, T~, S~]");
    assert_type(&g, "rotary_pairs", "f32[B, 2, S~, 8]");
    assert_type(&g, "capped", "f32[B, 1, P, P]");
    assert_type(&g, "class", "f32[B, 1, 3]");
    assert_int_equal(param(&g, "batch_norm.running_variance")->role, PARAM_STATE);
    assert_int_equal(count_ops(&g, OP_assign), 2);
    assert_int_equal(count_ops(&g, OP_ctc), 1);
    arena_free(g.arena);
}

static void copy_that_stands_alone(void **state)
{
    (void)state;
    Setting setting = {"layers", "1"};
    FrontendOptions options = {.library = "models/lib", .settings = &setting, .n_settings = 1};
    Given a = parse_with("use \"pre_norm.tfg\"\n", options);
    Text copy = {0}, first = {0}, second = {0};
    assert_non_null(a.model);
    const char *text = "use \"pre_norm.tfg\"\n";
    const Source *source = diag_source(a.arena, "models/test.tfg", text, strlen(text));
    assert_true(frontend_dump_ast(a.arena, source, &options, &copy, &a.diags));
    Given b = parse(copy.data);
    assert_non_null(b.model);
    a.model->module->name = b.model->module->name = "same";
    ir_print_module(a.model->module, &first);
    ir_print_module(b.model->module, &second);
    assert_string_equal(first.data, second.data);
    text_free(&copy);
    text_free(&first);
    text_free(&second);
    arena_free(a.arena);
    arena_free(b.arena);
}

/* The words of declarations are names where no name follows them. */
static void words_stay_names(void **state)
{
    (void)state;
    Given g =
        parse("dim B\n"
              "input x : float[B, 4]\n"
              "const column = 2\n"
              "vocab = 3\n"
              "predict, shared = [x, vocab * x]\n"
              "block words(predict, vocab = column) { predict = predict + vocab; return predict }\n"
              "if vocab == 3 {\n"
              "  predict = words(predict)\n"
              "  predict both = softmax(predict + shared)\n"
              "}\n"
              "output y = predict * vocab\n");
    assert_non_null(g.model);
    assert_type(&g, "both", "f32[B, 4]");
    assert_type(&g, "y", "f32[B, 4]");
    arena_free(g.arena);
}

static const char *attr_of(const Given *g, OpKind kind, const char *name, AttrName attr)
{
    FOR_OPS (op, &module_function(g->model->module, "model")->body)
        if (op->kind == kind && !strcmp(op_string(op, ATTR_name), name))
            return op_attr(op, attr) ? op_string(op, attr) : NULL;
    fail_msg("no %s", name);
    return NULL;
}

static Given fixture(const char *name)
{
    char text[256];
    snprintf(text, sizeof text, "use \"../tests/fixtures/columns/%s.tfg\"\n", name);
    Given g = parse(text);
    assert_non_null(g.model);
    assert_true(g.model->has_loss && ir_verify(g.model->module, &g.diags));
    return g;
}

/* Models of other tasks, whose inputs are columns and which say what they predict. */
static void columns_and_predictions(void **state)
{
    (void)state;
    static const struct {
        const char *model, *input, *column, *vocab, *output, *predict, *type;
    } rows[] = {
        {"tagger", "tgt", "tags", "words:tags.txt", "tag", "classes", "f32[B, S~, 20]"},
        {"two_towers", "tgt", "second", "shared", "b", "values", "f32[B, 96]"},
        {"speech_ctc", "sound", "sound", NULL, "letters", "classes", "f32[B, S~, 32]"},
        {"multi_source", "src2", "src2", "shared", "logits", NULL, "f32[B, T~, 1000]"},
        {"vit", "label", "label", "words:classes.txt", "class", "classes", "f32[B, 10]"},
        {"classifier", "label", "label", "words", "class", "classes", "f32[B, 4]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Given g = fixture(rows[i].model);
        const char *vocab = attr_of(&g, OP_input, rows[i].input, ATTR_vocab);
        const char *predict = attr_of(&g, OP_output, rows[i].output, ATTR_predict);
        const char *column = attr_of(&g, OP_input, rows[i].input, ATTR_column);
        assert_non_null(column);
        assert_string_equal(column, rows[i].column);
        assert_string_equal(vocab ? vocab : "none", rows[i].vocab ? rows[i].vocab : "none");
        assert_string_equal(predict ? predict : "none", rows[i].predict ? rows[i].predict : "none");
        assert_type(&g, rows[i].output, rows[i].type);
        arena_free(g.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_lines),
        cmocka_unit_test(names_of_calls),
        cmocka_unit_test(sharing_and_freezing),
        cmocka_unit_test(replacing),
        cmocka_unit_test(replacing_what_is_read_later),
        cmocka_unit_test(settings_and_outputs),
        cmocka_unit_test(known_conditions),
        cmocka_unit_test(merged_once),
        cmocka_unit_test(masks_cost_nothing),
        cmocka_unit_test(weights),
        cmocka_unit_test(training),
        cmocka_unit_test(variants),
        cmocka_unit_test(copy_that_stands_alone),
        cmocka_unit_test(words_stay_names),
        cmocka_unit_test(columns_and_predictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
