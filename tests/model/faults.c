/* Every allocation and every call on files that a compiled library makes, failed in turn: the
 * first of a call of its interface, the second, … until the call is done before its turn comes.
 * Each time the call gives the status for it, nothing is left behind, and the same call, made
 * again, gives what it gives undisturbed. Then the same with all calls after it, too, at
 * growing distances.
 *
 * Usage: faults SAVED LINK FILE …   (a safetensors file that fits; a link to a file; files that
 * do not fit or are none). "pieces" is a SentencePiece model. The places whose calls were seen go
 * to standard output. */
#define _GNU_SOURCE
#include "faults_calls.h"

#include "faults.h"
#include "tests/short.h"

#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_CALLS = 100000, LAST_CALLS = 60 };

static int wrong;

/* ---- one failure after the other ---- */

typedef struct Attempt {
    const Scenario *scenario;
    FaultKind kind;
    long number;
    bool all;
    double right; /* result undisturbed */
    bool done;    /* the call ended before its turn */
} Attempt;

static void complain(const Attempt *a, const char *what, double got, double want)
{
    fprintf(stderr, "%s, %s %ld%s: %s: %.17g, not %.17g (%s)\n", a->scenario->name,
            a->kind == FAULT_MEMORY  ? "allocation"
            : a->kind == FAULT_FILES ? "file call"
                                     : "call",
            a->number, a->all ? " and on" : "", what, got, want, N(error_detail)());
    wrong++;
}

static bool is_right_status(const Scenario *s, FaultKind kind, bool failed, int status)
{
    if (!failed)
        return status == s->expected;
    bool memory = status == N(ERROR_MEMORY), file = status == s->refused || status == s->expected;
    switch (kind) {
    case FAULT_MEMORY: /* without a helper all is done as well */
        return memory || ((s->expected || s->threads) && status == s->expected);
    case FAULT_FILES: return file;
    case FAULT_ANY: return memory || file;
    }
    return false;
}

/* What was in the file is there, or what it is to be; and nothing beside it. What is no file
 * stays what it is. */
static void check_file(const Attempt *a, const World *w)
{
    glob_t beside;
    World reader = {.path = w->path};
    struct stat info;
    if (!strcmp(w->path, PIPE) && (stat(w->path, &info) || !S_ISFIFO(info.st_mode)))
        complain(a, "the pipe is replaced", 1, 0);
    char pattern[256];
    snprintf(pattern, sizeof pattern, "%s.tmp-*", w->path);
    if (!glob(pattern, 0, NULL, &beside) &&
        (unlink(beside.gl_pathv[0]), !a->all)) /* with all calls failing it cannot be removed */
        complain(a, "a file is left", 1, 0);
    globfree(&beside);
    if (strcmp(w->path, PIPE) && call_open(&reader))
        complain(a, "the file is not whole", 0, 1);
    N(close)(reader.model);
}

/* The first result is the right one: the scenario is made undisturbed at its end. */
static void check_result(Attempt *a, double result)
{
    if (isnan(a->right))
        a->right = result;
    if (result != a->right)
        complain(a, "result", result, a->right);
}

/* In a thread of its own, so that what belongs to a thread is made and freed, too. */
static void *attempt(void *argument)
{
    Attempt *a = argument;
    const Scenario *s = a->scenario;
    World world = {.path = s->path};
    bool is_once =
        s->call == call_train_step || s->call == call_train_long || s->call == call_decode_step;
    if (s->prepare)
        s->prepare(&world);
    N(set_threads)(s->threads ? s->threads : 1);
    (a->all ? fault_from : s->threads ? fault_place : fault_at)(a->kind, a->number);
    int status = s->call(&world);
    bool failed = fault_end();
    N(set_threads)(1);
    a->done = !failed;
    if (!is_right_status(s, a->kind, failed, status))
        complain(a, "status", status, failed ? N(ERROR_MEMORY) : s->expected);
    if (s->call == call_save && !s->expected && strncmp(s->path, "/dev/", 5))
        check_file(a, &world);
    if (status == s->expected)
        check_result(a, world.result);
    if (!status && s->after)
        s->after(&world);
    if (status || !is_once) { /* again, undisturbed */
        if ((status = s->call(&world)) != s->expected)
            complain(a, "status, again", status, s->expected);
        check_result(a, world.result);
    }
    world_end(&world);
    return NULL;
}

static void run_attempt(Attempt *a)
{
    pthread_t thread;
    long before = fault_held();
    if (pthread_create(&thread, NULL, attempt, a))
        exit(1);
    pthread_join(thread, NULL);
    if (!a->scenario->threads && fault_held() != before) /* helpers stay */
        complain(a, "left behind", (double)(fault_held() - before), 0);
}

/* Of files that are refused: as all of them begin the same way, the last calls alone. */
static long first_of(const Scenario *s, const Attempt *a)
{
    World world = {.path = s->path};
    if (s->call != call_open || !s->expected)
        return 1;
    fault_at(a->kind, MOST_CALLS);
    s->call(&world);
    fault_end();
    return fault_calls() > LAST_CALLS ? fault_calls() - LAST_CALLS : 1;
}

/* In the first scenarios failures come first: what a process makes once is made in them. */
static void run_scenario(const Scenario *s)
{
    Attempt a = {.scenario = s, .right = NAN};
    long calls = 0;
    static const struct {
        FaultKind kind;
        bool all;
    } ways[] = {{FAULT_MEMORY, false},
                {FAULT_FILES, false},
                {FAULT_MEMORY, true},
                {FAULT_FILES, true},
                {FAULT_ANY, true}};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        a.kind = ways[i].kind;
        a.all = ways[i].all;
        a.done = false;
        for (a.number = first_of(s, &a); !a.done && a.number < MOST_CALLS && wrong < 20; calls++) {
            run_attempt(&a);
            /* What a process makes once for its helpers makes the next attempt's numbers
             * smaller. */
            bool again = s->threads && calls % 3 != 2;
            a.number += a.all          ? 1 + a.number / (short_test() ? 2 : 8)
                        : again        ? 0
                        : short_test() ? 13
                                       : 1;
        }
    }
    World world = {.path = s->path};
    if (s->prepare)
        s->prepare(&world);
    if (s->call(&world) != s->expected || world.result != a.right)
        complain(&a, "undisturbed", world.result, a.right);
    world_end(&world);
    fprintf(stderr, "%s: %ld calls, %d wrong\n", s->name, calls, wrong);
}

ssize_t __real_read(int fd, void *to, size_t size); /* of the test itself, which never fails */

static void *read_pipe(void *argument)
{
    static char buffer[1 << 16];
    while (__real_read(*(int *)argument, buffer, sizeof buffer) > 0)
        continue;
    return NULL;
}

static int open_pipe(void)
{
    static int fd;
    pthread_t reader;
    if (mkfifo(PIPE, 0666) || (fd = open(PIPE, O_RDWR)) < 0 ||
        pthread_create(&reader, NULL, read_pipe, &fd))
        exit(1);
    pthread_detach(reader);
    return fd;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    N(set_threads)(1);
    int pipe = open_pipe();
    char open_path[32];
    snprintf(open_path, sizeof open_path, "/dev/fd/%d", pipe);
    size_t n;
    const Scenario *scenarios = scenarios_of(argv[1], argv[2], open_path, &n);
    for (size_t i = 0; i < n; i++) {
        if (scenarios[i].call == call_open) { /* the first two make no checkpoint before */
            World trained = {0};
            world_trained(&trained);
            world_need(N(save)(trained.model, "checkpoint.safetensors"), "save");
            world_need(N(save)(trained.model, "written.safetensors"), "save");
            world_end(&trained);
        }
        run_scenario(&scenarios[i]);
    }
    const int weights = N(ERROR_WEIGHTS);
    for (int i = 3; i < argc; i++)
        run_scenario(&(Scenario){argv[i], NULL, call_open, close_model, weights, argv[i], weights});
    fault_report(stdout);
    return wrong != 0;
}
