/* The model, its checkpoint and their folder; see weights_case.h. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/file.h"
#include "tests/driver/weights_case.h"

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
const char weights_map[] =
    "weights {\n"
    "  joined = concat([\"u\", transpose(slice(\"v\", 1, 1, 2))], axis = 0)\n"
    "  turned = transpose(\"t\")\n"
    "  part   = transpose(slice(\"merged\", 0, 0, 4))\n"
    "  other  = transpose(slice(\"merged\", 0, 4, 4))\n"
    "  cube   = permute(\"c\", [2, 0, 1])\n"
    "  scaled = \"s\" * 0.5\n"
    "  shared = tied([\"first.name\", \"second.name\"])\n"
    "  again  = \"first.name\"\n"
    "}\n";

int open_weights_case(void **state)
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

int close_weights_case(void **state)
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

const char *in_folder(Fixture *f, const char *name)
{
    return arena_printf(f->job.arena, "%s/%s", f->folder, name);
}

bool open_model(Fixture *f, const char *map)
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
StTensor numbers(Fixture *f, const char *name, float first, int rank, const int64_t *dims)
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

void make_tensors(Fixture *f, StTensor tensors[TENSORS])
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

const char *write_checkpoint(Fixture *f, const StTensor *tensors, int n)
{
    const char *path = in_folder(f, "theirs.safetensors");
    assert_true(st_write(&f->job.diags, path, tensors, n, NULL, 0));
    return path;
}

double element(Fixture *f, const char *name, int64_t i)
{
    for (int64_t t = 0; t < store_count(f->store); t++)
        if (!strcmp(store_at(f->store, t)->name, name))
            return ((const float *)store_at(f->store, t)->data)[i];
    fail_msg("there is no param %s", name);
    return 0;
}

const char *told(Fixture *f)
{
    Text text = {0};
    diag_render(&f->job.diags, &text);
    return text_keep(f->job.arena, &text);
}
