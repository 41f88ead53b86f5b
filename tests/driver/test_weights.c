/* Checkpoints of other programs: each form of the weights block read, and written back to the
 * same bytes; shards; what is missing or does not fit. */
#define _GNU_SOURCE
#include "driver/run/weight_parts.h"
#include "driver/run/weights.h"
#include "driver/formats/shards.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char MODEL[] =
    "input x : float[2, 4]\n"
    "param joined : [6, 4] = zeros\n"
    "param turned : [4, 3] = zeros\n"
    "param part : [4, 4] = zeros\n"
    "param other : [4, 4] = zeros\n"
    "param cube : [2, 3, 4] = zeros\n"
    "param scaled : [4] = zeros\n"
    "param shared : [4] = zeros\n"
    "param again : [4] = zeros\n"
    "param plain : [4] = zeros\n"
    "output y = x @ transpose(joined) @ (joined @ turned) + sum(part + other)"
    " + sum(cube) + sum(scaled) + sum(shared) + sum(again) + sum(plain)\n"
    "loss = mean(y)\n";
static const char MAP[] = "weights {\n"
                          "  joined = concat([\"u\", transpose(slice(\"v\", 1, 1, 2))], axis = 0)\n"
                          "  turned = transpose(\"t\")\n"
                          "  part   = transpose(slice(\"merged\", 0, 0, 4))\n"
                          "  other  = transpose(slice(\"merged\", 0, 4, 4))\n"
                          "  cube   = permute(\"c\", [2, 0, 1])\n"
                          "  scaled = \"s\" * 0.5\n"
                          "  shared = tied([\"first.name\", \"second.name\"])\n"
                          "  again  = \"first.name\"\n"
                          "}\n";

typedef struct Fixture {
    char folder[32];
    Job job;
    Session session;
    Store *store;
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/tfc-weights-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->job.arena = arena_new();
    diag_init(&f->job.diags, f->job.arena);
    f->store = store_new();
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    session_close(&f->session);
    store_free(f->store);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", f->folder);
    assert_int_equal(system(command), 0);
    arena_free(f->job.arena);
    free(f);
    return 0;
}

static const char *in_folder(Fixture *f, const char *name)
{
    return arena_printf(f->job.arena, "%s/%s", f->folder, name);
}

static bool open_model(Fixture *f, const char *map)
{
    const char *path = in_folder(f, "model.tfg"),
               *text = arena_printf(f->job.arena, "%s%s", MODEL, map);
    assert_true(file_write_all(&f->job.diags, path, text, strlen(text)));
    SessionOptions options = session_defaults(path);
    if (!session_open(&f->session, &f->job, &options))
        return false;
    const TfcProgram *program =
        session_compile(&f->session, session_function(&f->session, "forward"));
    assert_non_null(program);
    assert_true(store_add_program(f->store, program));
    return weights_initialise(&f->job, f->session.model, f->store, 1);
}

/* A tensor of consecutive numbers from `first` on. */
static StTensor numbers(Fixture *f, const char *name, float first, int rank, const int64_t *dims)
{
    StTensor tensor = {.name = name, .type = ST_F32, .rank = rank};
    int64_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= tensor.dims[i] = dims[i];
    float *data = ARENA_ARRAY(f->job.arena, float, count);
    for (int64_t i = 0; i < count; i++)
        data[i] = first + (float)i;
    tensor.data = data;
    return tensor;
}

enum { TENSORS = 8 };
static void make_tensors(Fixture *f, StTensor tensors[TENSORS])
{
    tensors[0] = numbers(f, "u", 100, 2, (int64_t[]){4, 4});
    tensors[1] = numbers(f, "v", 200, 2, (int64_t[]){4, 3});
    tensors[2] = numbers(f, "t", 300, 2, (int64_t[]){3, 4});
    tensors[3] = numbers(f, "merged", 400, 2, (int64_t[]){8, 4});
    tensors[4] = numbers(f, "c", 500, 3, (int64_t[]){3, 4, 2});
    tensors[5] = numbers(f, "s", 600, 1, (int64_t[]){4});
    tensors[6] = numbers(f, "first.name", 700, 1, (int64_t[]){4});
    tensors[7] = numbers(f, "plain", 800, 1, (int64_t[]){4});
}

static const char *write_checkpoint(Fixture *f, const StTensor *tensors, int n)
{
    const char *path = in_folder(f, "theirs.safetensors");
    assert_true(st_write(&f->job.diags, path, tensors, n, NULL, 0));
    return path;
}

static double element(Fixture *f, const char *name, int64_t i)
{
    for (int64_t t = 0; t < store_count(f->store); t++)
        if (!strcmp(store_at(f->store, t)->name, name))
            return ((const float *)store_at(f->store, t)->data)[i];
    fail_msg("there is no param %s", name);
    return 0;
}

static void forms(void **state)
{
    Fixture *f = *state;
    StTensor tensors[TENSORS];
    make_tensors(f, tensors);
    assert_true(open_model(f, MAP));
    assert_true(weights_load(&f->job, f->session.model, f->store,
                             write_checkpoint(f, tensors, TENSORS), NULL));
    assert_true(element(f, "joined", 3 * 4 + 1) == 113);             /* u[3, 1] */
    assert_true(element(f, "joined", 4 * 4 + 2) == 200 + 2 * 3 + 1); /* v[2, 1] */
    assert_true(element(f, "joined", 5 * 4 + 2) == 200 + 2 * 3 + 2); /* v[2, 2] */
    assert_true(element(f, "turned", 1 * 3 + 2) == 300 + 2 * 4 + 1);
    assert_true(element(f, "other", 1 * 4 + 2) == 400 + (4 + 2) * 4 + 1);
    assert_true(element(f, "cube", (1 * 3 + 2) * 4 + 3) == 500 + (2 * 4 + 3) * 2 + 1);
    assert_true(element(f, "scaled", 1) == 300.5);
    assert_true(element(f, "shared", 3) == 703 && element(f, "again", 3) == 703);
    assert_true(element(f, "plain", 2) == 802);
}

/* Parts whose sizes differ, a name that is composed, a tensor that may be missing. */
static void unequal(void **state)
{
    Fixture *f = *state;
    StTensor tensors[] = {numbers(f, "u", 100, 2, (int64_t[]){1, 4}),
                          numbers(f, "v", 200, 2, (int64_t[]){4, 3}),
                          numbers(f, "z", 300, 2, (int64_t[]){2, 4}),
                          numbers(f, "turned", 400, 2, (int64_t[]){4, 3}),
                          numbers(f, "part", 500, 2, (int64_t[]){4, 4}),
                          numbers(f, "other", 600, 2, (int64_t[]){4, 4}),
                          numbers(f, "cube", 700, 3, (int64_t[]){2, 3, 4}),
                          numbers(f, "scaled", 800, 1, (int64_t[]){4}),
                          numbers(f, "all.name", 900, 1, (int64_t[]){4}),
                          numbers(f, "other again", 1000, 1, (int64_t[]){4}),
                          numbers(f, "plain", 1100, 1, (int64_t[]){4})};
    enum { N = sizeof tensors / sizeof *tensors };
    assert_true(
        open_model(f, "const front = \"all.\", name = \"name\"\n"
                      "weights {\n"
                      "  joined = concat([\"u\", transpose(\"v\"), \"z\"], 0, sizes = [1, 3, 2])\n"
                      "  shared = front + name\n"
                      "  again  = optional(\"absent\")\n"
                      "}\n"));
    assert_true(
        weights_load(&f->job, f->session.model, f->store, write_checkpoint(f, tensors, N), NULL));
    assert_true(element(f, "joined", 0 * 4 + 3) == 103);
    assert_true(element(f, "joined", 2 * 4 + 3) == 200 + 3 * 3 + 1); /* v[3, 1] */
    assert_true(element(f, "joined", 4 * 4 + 1) == 301 && element(f, "joined", 5 * 4) == 304);
    assert_true(element(f, "shared", 2) == 902 && element(f, "again", 2) == 0);
    const char *back = in_folder(f, "back.safetensors");
    assert_true(weights_export(&f->job, f->session.model, f->store, &(WeightsExport){0}, back));
    StFile *file = st_open(&f->job.diags, f->job.arena, back);
    assert_non_null(file);
    assert_int_equal(file->n, N);
    for (int i = 0; i < N; i++) {
        const StTensor *again = st_find(file, tensors[i].name);
        if (i == 9) { /* nobody's; the optional one is written */
            assert_null(again);
            assert_non_null(st_find(file, "absent"));
            continue;
        }
        assert_non_null(again);
        assert_memory_equal(again->data, tensors[i].data, again->bytes);
    }
    st_close(file);
}

/* A part [2, 35, 19] of a tensor [4, 40, 21], its axes in the given order in the param: larger than
 * a tile, and with a rest. Each element is looked up by its place. */
static void check_part(StType type, const int order[3], double scale)
{
    enum { A = 2, B = 35, C = 19, ALL = 4 * 40 * 21 };
    static uint16_t bits[ALL];
    static float floats[ALL], ours[A * B * C];
    for (int i = 0; i < ALL; i++) {
        bits[i] = (uint16_t)(i * 7 % 0x7000 + (i % 2 ? 0x8000 : 0));
        floats[i] = (float)i;
    }
    StTensor from = {.type = type, .rank = 3, .dims = {4, 40, 21}, .count = ALL};
    from.data = type == ST_F32 ? (const void *)floats : bits;
    WeightPart part = {.rank = 3, .scale = scale};
    static const WeightAxis axes[] = {{.size = A, .their_begin = 1},
                                      {.size = B, .their_begin = 3},
                                      {.size = C, .their_begin = 2}};
    StoreTensor param = {.type = TFC_F32, .rank = 3, .count = A * B * C, .data = ours};
    for (int i = 0; i < 3; i++) {
        part.axes[i] = axes[i];
        part.axes[i].ours = order[i];
        part.axes[i].is_slice = true;
        param.dims[order[i]] = axes[i].size;
    }
    memset(ours, 0xFF, sizeof ours);
    assert_true(part_read(&part, &from, &param));
    for (int64_t i = 0; i < param.count; i++) {
        int64_t at[3], place = i;
        for (int axis = 3; axis-- > 0; place /= param.dims[axis])
            at[axis] = place % param.dims[axis];
        int64_t theirs = ((at[order[0]] + 1) * 40 + at[order[1]] + 3) * 21 + at[order[2]] + 2;
        assert_true(ours[i] == (float)(scale * st_value(&from, theirs)));
    }
}

static void large_parts(void **state)
{
    (void)state;
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        check_part(ST_F32, orders[i], 1);
        check_part(ST_BF16, orders[i], 1);
        check_part(ST_F16, orders[i], 1);
        check_part(ST_BF16, orders[i], 0.5);
    }
}

static const WeightsExport everything;

/* The file that comes back has the tensors of the one that went in, element for element. Of v
 * the model has a part alone, so all of v cannot be. */
static void there_and_back(void **state)
{
    Fixture *f = *state;
    StTensor tensors[TENSORS];
    make_tensors(f, tensors);
    const char *map = "weights {\n"
                      "  joined = concat([\"u\", transpose(\"v\")])\n"
                      "  turned = transpose(\"t\")\n"
                      "  part   = transpose(slice(\"merged\", 0, 0, 4))\n"
                      "  other  = transpose(slice(\"merged\", 0, 4, 4))\n"
                      "  cube   = permute(\"c\", [2, 0, 1])\n"
                      "  scaled = \"s\" / 2\n"
                      "  shared = tied([\"first.name\", \"second.name\"])\n"
                      "  again  = \"first.name\"\n"
                      "}\n";
    tensors[0] = numbers(f, "u", 100, 2, (int64_t[]){3, 4});
    assert_true(open_model(f, map));
    assert_true(weights_load(&f->job, f->session.model, f->store,
                             write_checkpoint(f, tensors, TENSORS), NULL));
    const char *path = in_folder(f, "back.safetensors");
    assert_true(weights_export(&f->job, f->session.model, f->store, &everything, path));
    StFile *file = st_open(&f->job.diags, f->job.arena, path);
    assert_non_null(file);
    assert_int_equal(file->n, TENSORS);
    for (int i = 0; i < TENSORS; i++) {
        const StTensor *back = st_find(file, tensors[i].name);
        assert_non_null(back);
        assert_int_equal(back->rank, tensors[i].rank);
        assert_memory_equal(back->dims, tensors[i].dims, sizeof(int64_t) * (size_t)back->rank);
        assert_memory_equal(back->data, tensors[i].data, back->bytes);
    }
    st_close(file);
}

/* The front of all names left out: "wte.weight" for "transformer.wte.weight". */
static void without_front(void **state)
{
    Fixture *f = *state;
    StTensor tensors[TENSORS];
    make_tensors(f, tensors);
    tensors[6].name = "name";
    assert_true(open_model(f, MAP));
    assert_true(weights_load(&f->job, f->session.model, f->store,
                             write_checkpoint(f, tensors, TENSORS), NULL));
    assert_true(element(f, "shared", 3) == 703);
    tensors[7].name = "first.other"; /* some names have the front: then all have it */
    assert_false(weights_load(&f->job, f->session.model, f->store,
                              write_checkpoint(f, tensors, TENSORS), NULL));
}

static const char *told(Fixture *f)
{
    Text text = {0};
    diag_render(&f->job.diags, &text);
    const char *copy = arena_strdup(f->job.arena, text.data ? text.data : "");
    text_free(&text);
    return copy;
}

static void export_refuses(void **state)
{
    Fixture *f = *state;
    StTensor tensors[TENSORS];
    make_tensors(f, tensors);
    assert_true(open_model(f, MAP));
    assert_true(weights_load(&f->job, f->session.model, f->store,
                             write_checkpoint(f, tensors, TENSORS), NULL));
    const char *path = in_folder(f, "back.safetensors");
    assert_false(weights_export(&f->job, f->session.model, f->store, &everything, path));
    assert_non_null(strstr(told(f), "the params do not fill 'v'"));
    assert_false(file_exists(path));
}

static void differing_twins(void **state)
{
    Fixture *f = *state;
    assert_true(open_model(f, "weights {\n  shared = \"w\"\n  again = \"w\"\n}\n"));
    for (int64_t t = 0; t < store_count(f->store); t++)
        if (!strcmp(store_at(f->store, t)->name, "again"))
            ((float *)store_at(f->store, t)->data)[2] = 1;
    assert_false(weights_export(&f->job, f->session.model, f->store, &everything,
                                in_folder(f, "back.safetensors")));
    assert_non_null(strstr(told(f), "'w' is one tensor there"));
}

static void missing(void **state)
{
    Fixture *f = *state;
    StTensor tensors[TENSORS];
    make_tensors(f, tensors);
    tensors[0].name = "model.u";
    tensors[5].name = "first.nome";
    tensors[6].name = "x";
    assert_true(open_model(f, MAP));
    assert_false(weights_load(&f->job, f->session.model, f->store,
                              write_checkpoint(f, tensors, TENSORS), NULL));
    const char *text = told(f);
    assert_non_null(strstr(text, "4 of the model's tensors are missing:"));
    assert_non_null(strstr(text, "'u' (for the param 'joined'); did you mean 'model.u'?"));
    assert_non_null(
        strstr(text, "'first.name' (for the param 'again'); did you mean 'first.nome'?"));
}

static void does_not_fit(void **state)
{
    Fixture *f = *state;
    StTensor tensors[TENSORS];
    make_tensors(f, tensors);
    tensors[2] = numbers(f, "t", 0, 2, (int64_t[]){4, 4});
    tensors[3] = numbers(f, "merged", 0, 2, (int64_t[]){7, 4});
    assert_true(open_model(f, MAP));
    assert_false(weights_load(&f->job, f->session.model, f->store,
                              write_checkpoint(f, tensors, TENSORS), NULL));
    const char *text = told(f);
    assert_non_null(strstr(text, "the tensor 't' is [4, 4], but the param 'turned' takes [3, 4]"));
    assert_non_null(strstr(text, "there is no part 4 … 7 of its axis 0"));
}

/* ---- own names or published ones ---- */

/* `part` is square and has the published name of its transpose, `shared` that of another param. */
static const char TWICE[] = "weights {\n"
                            "  part   = transpose(\"part\")\n"
                            "  shared = \"again\"\n"
                            "  again  = \"third\"\n"
                            "}\n";
static const char PART[] = "weights {\n  part = transpose(\"part\")\n}\n";

/* The params under their own names, or under those of TWICE. */
static const char *write_named(Fixture *f, bool own, const char *mark, const char *file)
{
    const StTensor tensors[] = {numbers(f, "joined", 100, 2, (int64_t[]){6, 4}),
                                numbers(f, "turned", 200, 2, (int64_t[]){4, 3}),
                                numbers(f, "part", 300, 2, (int64_t[]){4, 4}),
                                numbers(f, "other", 400, 2, (int64_t[]){4, 4}),
                                numbers(f, "cube", 500, 3, (int64_t[]){2, 3, 4}),
                                numbers(f, "scaled", 600, 1, (int64_t[]){4}),
                                numbers(f, own ? "shared" : "again", 700, 1, (int64_t[]){4}),
                                numbers(f, own ? "again" : "third", 800, 1, (int64_t[]){4}),
                                numbers(f, "plain", 900, 1, (int64_t[]){4})};
    const StMeta meta = {ST_FORMAT, mark};
    const char *path = in_folder(f, file);
    assert_true(st_write(&f->job.diags, path, tensors, sizeof tensors / sizeof *tensors, &meta,
                         mark != NULL));
    return path;
}

static void check_named(Fixture *f, const char *path, bool transposed)
{
    assert_true(weights_load(&f->job, f->session.model, f->store, path, NULL));
    assert_true(element(f, "part", 1 * 4 + 2) == 300 + (transposed ? 2 * 4 + 1 : 1 * 4 + 2));
    assert_true(element(f, "shared", 1) == 701 && element(f, "again", 1) == 801);
    WeightsFile file; /* one by one, as deferred params are read */
    assert_true(weights_open(&f->job, f->session.model, path, &file));
    for (int64_t i = 0; i < store_count(f->store); i++) {
        StoreTensor *param = store_at(f->store, i);
        const size_t bytes = sizeof(float) * (size_t)param->count;
        void *loaded = arena_array(f->job.arena, (size_t)param->count, sizeof(float));
        memcpy(loaded, param->data, bytes);
        memset(param->data, 0, bytes);
        assert_true(weights_read(&file, param));
        assert_memory_equal(param->data, loaded, bytes);
    }
    weights_close(&file);
    TextList unused;
    assert_true(weights_unused(&f->job, f->session.model, path, &unused));
    assert_int_equal(unused.count, 0);
}

/* A file's other names tell which of both a tensor is. */
static void own_or_published(void **state)
{
    Fixture *f = *state;
    assert_true(open_model(f, TWICE));
    check_named(f, write_named(f, true, NULL, "own.safetensors"), false);
    check_named(f, write_named(f, false, NULL, "theirs.safetensors"), true);
    check_named(f, write_named(f, true, ST_FORMAT_OWN, "last.safetensors"), false);
}

/* Where names do not tell, the mark of what tfc writes does. */
static void own_by_mark(void **state)
{
    Fixture *f = *state;
    assert_true(open_model(f, PART));
    check_named(f, write_named(f, true, NULL, "theirs.safetensors"), true);
    check_named(f, write_named(f, true, "pt", "theirs.safetensors"), true);
    check_named(f, write_named(f, true, ST_FORMAT_OWN, "last.safetensors"), false);
}

/* A run's checkpoint of other shapes is what a weights block may be made for. */
static void slice_of_marked(void **state)
{
    Fixture *f = *state;
    assert_true(open_model(f, "weights {\n  scaled = slice(\"scaled\", 0, 1, 4)\n}\n"));
    StTensor tensors[] = {numbers(f, "joined", 100, 2, (int64_t[]){6, 4}),
                          numbers(f, "turned", 200, 2, (int64_t[]){4, 3}),
                          numbers(f, "part", 300, 2, (int64_t[]){4, 4}),
                          numbers(f, "other", 400, 2, (int64_t[]){4, 4}),
                          numbers(f, "cube", 500, 3, (int64_t[]){2, 3, 4}),
                          numbers(f, "scaled", 600, 1, (int64_t[]){7}),
                          numbers(f, "shared", 700, 1, (int64_t[]){4}),
                          numbers(f, "again", 800, 1, (int64_t[]){4}),
                          numbers(f, "plain", 900, 1, (int64_t[]){4})};
    const StMeta meta = {ST_FORMAT, ST_FORMAT_OWN};
    const char *path = in_folder(f, "last.safetensors");
    assert_true(st_write(&f->job.diags, path, tensors, 9, &meta, 1));
    assert_true(weights_load(&f->job, f->session.model, f->store, path, NULL));
    assert_true(element(f, "scaled", 0) == 601);
}

static void names_of_two_kinds(void **state)
{
    Fixture *f = *state;
    assert_true(open_model(f, "weights {\n"
                              "  part   = transpose(\"part\")\n"
                              "  shared = \"first\"\n"
                              "  again  = \"second\"\n"
                              "}\n"));
    enum { COMMON = 7 };
    const StTensor tensors[] = {numbers(f, "joined", 100, 2, (int64_t[]){6, 4}),
                                numbers(f, "turned", 200, 2, (int64_t[]){4, 3}),
                                numbers(f, "part", 300, 2, (int64_t[]){4, 4}),
                                numbers(f, "other", 400, 2, (int64_t[]){4, 4}),
                                numbers(f, "cube", 500, 3, (int64_t[]){2, 3, 4}),
                                numbers(f, "scaled", 600, 1, (int64_t[]){4}),
                                numbers(f, "plain", 900, 1, (int64_t[]){4}),
                                numbers(f, "first", 700, 1, (int64_t[]){4}),
                                numbers(f, "again", 800, 1, (int64_t[]){4})};
    assert_false(weights_load(&f->job, f->session.model, f->store,
                              write_checkpoint(f, tensors, COMMON + 2), NULL));
    assert_non_null(strstr(told(f),
                           "names of two kinds: 'again' is the model's own name of a param, "
                           "which its weights block calls 'second'; 'first' is what the "
                           "weights block calls 'shared'"));
    /* Two files, each of its own kind. */
    const char *head = in_folder(f, "head.safetensors");
    assert_true(st_write(&f->job.diags, head, tensors + COMMON + 1, 1, NULL, 0));
    const char *both =
        arena_printf(f->job.arena, "%s,%s", write_checkpoint(f, tensors, COMMON + 1), head);
    assert_true(weights_load(&f->job, f->session.model, f->store, both, NULL));
    assert_true(element(f, "part", 1 * 4 + 2) == 300 + 2 * 4 + 1);
    assert_true(element(f, "shared", 1) == 701 && element(f, "again", 1) == 801);
    /* The head's param in both. */
    StTensor twice[] = {numbers(f, "shared", 0, 1, (int64_t[]){4}), tensors[COMMON + 1]};
    assert_true(st_write(&f->job.diags, head, twice, 2, NULL, 0));
    assert_false(weights_load(&f->job, f->session.model, f->store, both, NULL));
    assert_non_null(strstr(told(f), "the param 'shared' is in "));
}

/* ---- shards ---- */

static void in_shards(void **state)
{
    Fixture *f = *state;
    StTensor tensors[TENSORS];
    make_tensors(f, tensors);
    Diagnostics *diags = &f->job.diags;
    assert_true(st_write(diags, in_folder(f, "a.safetensors"), tensors, 3, NULL, 0));
    assert_true(st_write(diags, in_folder(f, "b.safetensors"), tensors + 3, TENSORS - 3, NULL, 0));
    const char index[] =
        "{\"metadata\": {\"total_size\": 1}, \"weight_map\": {\"u\": \"a.safetensors\", "
        "\"merged\": \"b.safetensors\"}}";
    const char *path = in_folder(f, "model.safetensors.index.json");
    assert_true(file_write_all(diags, path, index, strlen(index)));
    assert_true(open_model(f, MAP));
    assert_true(weights_load(&f->job, f->session.model, f->store, path, NULL));
    assert_true(weights_load(&f->job, f->session.model, f->store, f->folder, NULL));
    assert_true(element(f, "other", 1 * 4 + 2) == 400 + (4 + 2) * 4 + 1);
}

static void bad_index(void **state)
{
    static const struct {
        const char *text, *told;
    } cases[] = {
        {"{", "at byte"},
        {"[]", "no \"weight_map\""},
        {"{\"weight_map\": {\"u\": \"../a.safetensors\"}}",
         "the file of \"u\" is ../a.safetensors, which does not lie beside the index"},
        {"{\"weight_map\": {\"u\": 7}}", "no file is named for \"u\""},
        {"{\"weight_map\": {\"u\": \"a.safetensors\", \"nix\": \"a.safetensors\"}}",
         "'nix' is not in"},
        {"{\"weight_map\": {\"u\": \"absent.safetensors\"}}", "absent.safetensors"},
        {"{\"weight_map\": {\"u\": \"a.safetensors\", \"w\": \"b.safetensors\"}}",
         "is in another file"},
    };
    Fixture *f = *state;
    StTensor u = numbers(f, "u", 0, 1, (int64_t[]){4});
    assert_true(st_write(&f->job.diags, in_folder(f, "a.safetensors"), &u, 1, NULL, 0));
    assert_true(st_write(&f->job.diags, in_folder(f, "b.safetensors"), &u, 1, NULL, 0));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = in_folder(f, "index.json");
        assert_true(file_write_all(&f->job.diags, path, cases[i].text, strlen(cases[i].text)));
        assert_null(shards_open(&f->job.diags, f->job.arena, path));
        const char *text = told(f);
        if (!strstr(text, cases[i].told))
            fail_msg("case %zu: %s", i, text);
        diag_init(&f->job.diags, f->job.arena);
    }
    assert_null(shards_open(&f->job.diags, f->job.arena, f->folder));
    assert_non_null(strstr(told(f), "the folder has no weights: none of model.safetensors, "));
}

/* The files of an index lie in its folder, unless they may lie elsewhere. */
static void index_outside(void **state)
{
    Fixture *f = *state;
    Arena *arena = f->job.arena;
    Diagnostics *diags = &f->job.diags;
    StTensor u = numbers(f, "u", 0, 1, (int64_t[]){4});
    const char *folder = in_folder(f, "model"), *path = file_in(arena, folder, "index.json"),
               *away = in_folder(f, "away.safetensors");
    const char *const names[] = {"../away.safetensors", away, "link.safetensors"};
    assert_true(file_make_folder(diags, folder) && st_write(diags, away, &u, 1, NULL, 0));
    assert_int_equal(symlink("../away.safetensors", file_in(arena, folder, names[2])), 0);
    for (int i = 0; i < 3; i++) {
        const char *text = arena_printf(arena, "{\"weight_map\": {\"u\": \"%s\"}}", names[i]);
        assert_true(file_write_all(diags, path, text, strlen(text)));
        assert_null(shards_open(diags, arena, path));
        assert_non_null(strstr(told(f), "away.safetensors"));
        assert_non_null(strstr(told(f), "--allow-outside"));
        diag_init(diags, arena);
        Shards *shards = shards_open_within(diags, arena, (FileReach){.outside = true}, path);
        assert_non_null(shards);
        assert_non_null(shards_find(shards, "u"));
        shards_close(shards);
    }
    /* Weights that the user names may be a link. */
    shards_close(shards_open(diags, arena, file_in(arena, folder, names[2])));
    assert_int_equal(diags->errors, 0);
    /* Those that a folder names may not. */
    assert_null(shards_open_within(diags, arena, (FileReach){.folder = folder},
                                   file_in(arena, folder, names[2])));
    assert_int_equal(diags->errors, 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {CASE(forms),
                                       CASE(unequal),
                                       CASE(large_parts),
                                       CASE(there_and_back),
                                       CASE(without_front),
                                       CASE(export_refuses),
                                       CASE(differing_twins),
                                       CASE(missing),
                                       CASE(does_not_fit),
                                       CASE(in_shards),
                                       CASE(bad_index),
                                       CASE(index_outside),
                                       CASE(own_or_published),
                                       CASE(own_by_mark),
                                       CASE(slice_of_marked),
                                       CASE(names_of_two_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
