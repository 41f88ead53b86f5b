/* Running a model for what follows from lengths alone. */
#include "driver/analysis/picture.h"

#include "driver/ports/ports.h"
#include "driver/run/weights.h"
#include "driver/values/synthetic.h"

#include <string.h>

typedef struct Pictured {
    Job *job;
    const PictureOptions *options;
    Session session;
    Store *store;
    Binding binding;
    const TfcProgram *program;
    Exec *exec;
} Pictured;

static bool run(Pictured *p, Function *function)
{
    Job *job = p->job;
    const Module *module = p->session.model->module;
    p->program = session_compile(&p->session, function);
    if (!p->program)
        return false;
    if (!store_add_program(p->store, p->program))
        return job_no_memory(job);
    if (!weights_initialise(job, p->session.model, p->store, 1) ||
        (p->options->weights &&
         !weights_load(job, p->session.model, p->store, p->options->weights, NULL)))
        return false;
    p->binding = (Binding){.job = job, .module = module};
    synthetic_inputs(&p->binding, module,
                     &(SyntheticOptions){.batch = 1,
                                         .source_length = p->options->source_length,
                                         .target_length = p->options->target_length,
                                         .seed = 1});
    p->exec = exec_new(p->program, p->store);
    if (!p->exec)
        return job_no_memory(job);
    return tensors_bind(&p->binding, p->program, p->exec) &&
           (exec_run(p->exec) || job_no_memory(job));
}

static StTensor output_of(Pictured *p, const char *name)
{
    int i = 0;
    while (strcmp(p->program->outputs[i].name, name))
        i++;
    return tensors_output(&p->binding, p->program, &p->program->outputs[i],
                          exec_output(p->exec, name));
}

/* The earlier table that is the same; NULL: there is none. */
static PictureTable *find_same(const PictureTables *tables, const PictureTable *table)
{
    size_t bytes = (size_t)(table->rows * table->columns) * sizeof(float);
    for (size_t i = 0; i < tables->count; i++) {
        PictureTable *other = &tables->data[i];
        if (other->kind == table->kind && other->rows == table->rows &&
            other->columns == table->columns && !memcmp(other->values, table->values, bytes))
            return other;
    }
    return NULL;
}

static void add_table(Pictured *p, const PictureTable *table, PictureTables *tables)
{
    PictureTable *same = find_same(tables, table);
    if (same)
        same->alike++;
    else
        vec_push(p->job->arena, *tables, *table);
}

/* Dimensions of 1 around and between do not count. */
static void add_positions(Pictured *p, const PositionOutput *output, PictureTables *tables)
{
    StTensor tensor = output_of(p, output->output);
    int64_t sides[2] = {1, 1};
    int n = 0;
    for (int i = 0; i < tensor.rank; i++)
        if (tensor.dims[i] != 1 && n < 2)
            sides[n++] = tensor.dims[i];
    add_table(
        p, &(PictureTable){output->scope, output->made_by, sides[0], sides[1], 1, 0, tensor.data},
        tables);
}

static void add_mask(Pictured *p, const AttentionOutput *output, PictureTables *tables)
{
    StTensor tensor = output_of(p, output->output);
    int64_t rows = tensor.dims[tensor.rank - 2], columns = tensor.dims[tensor.rank - 1],
            n = rows * columns;
    const float *weights = tensor.data;
    float *seen = ARENA_ARRAY(p->job->arena, float, n + 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t h = 0; h < output->heads; h++)
            if (weights[h * n + i] != 0)
                seen[i] = 1;
    add_table(p, &(PictureTable){output->scope, NULL, rows, columns, 1, output->kind, seen},
              tables);
}

static bool make_positions(Pictured *p, PictureTables *tables)
{
    Function *forward = session_function(&p->session, "forward");
    PositionOutput *outputs;
    size_t n = forward ? expose_positions(forward, &outputs) : 0;
    if (forward && !n)
        return job_error(p->job, "%s: the model has no vectors of positions",
                         p->session.options.path);
    if (!forward || !run(p, forward))
        return false;
    for (size_t i = 0; i < n; i++)
        add_positions(p, &outputs[i], tables);
    return true;
}

static bool make_masks(Pictured *p, PictureTables *tables)
{
    Function *forward = session_function(&p->session, "forward");
    ModelPorts ports = ports_of(p->session.model->module);
    const AttentionSide sides[] = {{ports.source, false}, {ports.target, true}};
    AttentionOutput *outputs;
    size_t n = forward ? expose_attentions(forward, sides, 2, ~0u, &outputs) : 0;
    if (forward && !n)
        return job_error(p->job,
                         "%s: the model has no attention that is a softmax of tokens over tokens",
                         p->session.options.path);
    if (!forward || !run(p, forward))
        return false;
    for (size_t i = 0; i < n; i++)
        add_mask(p, &outputs[i], tables);
    return true;
}

static bool picture(Job *job, const PictureOptions *options,
                    bool (*make)(Pictured *, PictureTables *), PictureTables *tables)
{
    Pictured p = {.job = job, .options = options, .store = store_new_or_end()};
    *tables = (PictureTables){0};
    bool ok = session_open(&p.session, job, &options->model);
    if (ok) {
        ok = make(&p, tables);
        exec_free(p.exec);
        session_close(&p.session);
    }
    store_free(p.store);
    return ok;
}

bool picture_positions(Job *job, const PictureOptions *options, PictureTables *tables)
{
    return picture(job, options, make_positions, tables);
}

bool picture_masks(Job *job, const PictureOptions *options, PictureTables *tables)
{
    return picture(job, options, make_masks, tables);
}
