/* The forward of a model on an OpenCL device beside the same through the JIT: logits of several
 * batches, of ragged lengths, within a bound.
 *
 * Usage: opencl_forward MODEL.tfg BOUND [NAME=VALUE]…
 * Prints the device, the greatest difference and the time of a batch. 77: there is no device. */
#include "tests/model/batches.h"

#include "driver/run/weights.h"
#include "driver/session/session.h"
#include "tests/opencl/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 4, SKIPPED = 77 };

typedef struct Forward {
    Job *job;
    Session here_session, there_session; /* a function is derived once in a module */
    Store *store;
    Exec *here;
    int vocab;
    OclDevice device;
    OclRun *there;
    double seconds[2]; /* of all batches but the first: here, there */
} Forward;

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void fail(Forward *f, const char *what)
{
    job_error(f->job, "%s", what);
    Text text = {0};
    diag_render(&f->job->diags, &text);
    fputs(text.data, stderr);
    exit(1);
}

static void open_here(Forward *f, const SessionOptions *options)
{
    Session *session = &f->here_session;
    if (!session_open(session, f->job, options))
        fail(f, options->path);
    const TfcProgram *program = session_compile(session, session_function(session, "forward"));
    if (!program || !store_add_program(f->store, program) ||
        !weights_initialise(f->job, session->model, f->store, 7))
        fail(f, "forward");
    f->here = exec_new(program, f->store);
    f->vocab = (int)program->outputs[0].shape.dims[program->outputs[0].shape.rank - 1].size;
}

static void open_there(Forward *f, const SessionOptions *options)
{
    Session *session = &f->there_session;
    TfcDeviceCode *code = ARENA_NEW(f->job->arena, TfcDeviceCode);
    device_passes(f->job);
    if (!session_open(session, f->job, options) ||
        !device_program(session, session_function(session, "forward"), code))
        fail(f, "forward for a device");
    f->there = ocl_run_new(&f->device, code, f->store);
    if (!f->there)
        fail(f, f->device.name);
}

static void feed(Exec *exec, const TestBatch *batch)
{
    exec_set_ragged(exec, exec_dim(exec, "S"), batch->rows, batch->source_lengths, NULL);
    exec_set_ragged(exec, exec_dim(exec, "T"), batch->rows, batch->target_lengths, NULL);
    exec_input(exec, "src", batch->source);
    exec_input(exec, "tgt", batch->target);
}

/* The greatest difference of a logit. */
static double compare_batch(Forward *f, int number)
{
    TestBatch batch;
    double most = 0;
    test_batch(&batch, 1000 + number, f->vocab);
    int64_t n = (int64_t)batch.target_tokens * f->vocab;
    float *there = malloc(sizeof *there * (size_t)n);
    feed(f->here, &batch);
    feed(ocl_run_batch(f->there), &batch);
    double start = clock_seconds();
    if (!exec_run(f->here))
        fail(f, "forward here");
    double middle = clock_seconds();
    if (!ocl_run_all(f->there) || !ocl_run_output(f->there, "logits", there))
        fail(f, "forward on the device");
    double end = clock_seconds();
    if (number > 0) {
        f->seconds[0] += middle - start;
        f->seconds[1] += end - middle;
    }
    const float *here = exec_output(f->here, "logits");
    for (int64_t i = 0; i < n; i++) {
        double apart = fabs((double)here[i] - there[i]);
        most = apart > most || isnan(apart) ? apart : most;
    }
    free(there);
    return most;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    Job job = {.arena = arena_new()};
    diag_init(&job.diags, job.arena);
    Forward f = {.job = &job, .store = store_new()};
    double bound = atof(argv[2]), most = 0;
    if (!ocl_open(&f.device, getenv("TFC_OPENCL_DEVICE"), &f.job->diags)) {
        puts("skipped: no OpenCL device");
        return SKIPPED;
    }
    SessionOptions options = session_defaults(argv[1]);
    for (int i = 3; i < argc; i++)
        vec_push(job.arena, options.settings, argv[i]);
    open_here(&f, &options);
    open_there(&f, &options);
    for (int i = 0; i < BATCHES; i++) {
        double apart = compare_batch(&f, i);
        most = apart > most || isnan(apart) ? apart : most;
    }
    printf("%s on %s: differences up to %.2g; %.4f s a batch, here %.4f s\n", argv[1],
           f.device.name, most, f.seconds[1] / (BATCHES - 1), f.seconds[0] / (BATCHES - 1));
    bool ok = most <= bound;
    ocl_run_free(f.there);
    ocl_close(&f.device);
    exec_free(f.here);
    store_free(f.store);
    session_close(&f.here_session);
    session_close(&f.there_session);
    arena_free(job.arena);
    return ok ? 0 : 1;
}
