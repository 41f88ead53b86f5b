/* Adapters put into the params that they adapt: `merge weight = weight + a @ b`.
 *
 * The model is read again with its merges as its outputs. What is left of its forward function is
 * what they need, which runs once over the store. */
#include "driver/run/weights.h"

#include <string.h>

/* The params that a merge reads and none writes: name → `parts`. */
static void find_parts(const Function *function, const Map *merged, Map *parts)
{
    FOR_OPS (op, &function->body)
        if (op->kind == OP_param && !map_has(merged, op_string(op, ATTR_name)))
            map_set(parts, op_string(op, ATTR_name), parts);
}

static void find_merged(const Function *function, Map *merged)
{
    FOR_OPS (op, &function->body)
        if (op->kind == OP_output)
            map_set(merged, op_string(op, ATTR_name), merged);
}

/* Runs the program, then gives its outputs to the params of their names: none is written before
 * all are read. */
static bool run_merges(Job *job, const TfcProgram *program, Store *store)
{
    Exec *exec = exec_new(program, store);
    bool ok = exec && exec_run(exec);
    for (int i = 0; ok && i < program->n_outputs; i++) {
        const char *name = program->outputs[i].name;
        const StoreTensor *param = store_find(store, name);
        memcpy(param->data, exec_output(exec, name), (size_t)param->count * sizeof(float));
    }
    exec_free(exec);
    store_changed(store);
    return ok || job_no_memory(job);
}

bool weights_merge(Job *job, const SessionOptions *options, Store *store, Map *parts)
{
    SessionOptions merging = *options;
    merging.merges = true;
    Session session;
    if (!session_open(&session, job, &merging))
        return false;
    Map merged;
    map_init(&merged, job->arena);
    Function *function = derive_forward(session.model->module);
    find_merged(function, &merged);
    find_parts(function, &merged, parts);
    bool ok = merged.count || job_error(job,
                                        "%s: there is nothing to merge: no block of the model "
                                        "says `merge PARAM = …`, as models/lib/lora.tfg does",
                                        options->path);
    const TfcProgram *program = ok ? session_compile(&session, function) : NULL;
    ok = program && (store_add_program(store, program) || job_no_memory(job)) &&
         run_merges(job, program, store);
    session_close(&session);
    return ok;
}
