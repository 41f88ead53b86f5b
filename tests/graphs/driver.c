/* Blocks of graphs in processes of their own, what they find, and the counts. */
#define _GNU_SOURCE
#include "tests/graphs/driver.h"

#include "base/clock.h"
#include "base/file.h"
#include "ir/text.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BLOCK = 100,
    MOST_FOUND = 16,
    MOST_FAMILIES = 16,
    MOST_REFUSALS = 8,
    TASK_SECONDS = 60,
    SHRINK_SECONDS = 45,
    MOST_KNOWN = 256
};

typedef struct Found {
    int64_t number;
    int task;
    Outcome as;
} Found;

/* Where the process of a block is, and what it has counted: memory that both see. */
typedef struct Shared {
    int64_t number, graphs, ops;
    int task; /* -1: generating */
    int64_t by_family[MOST_FAMILIES], ops_of_family[MOST_FAMILIES];
    int64_t by_check[CHECK_COUNT][RESULT_COUNT];
    Seen seen, by_family_seen[MOST_FAMILIES];
    char refusals[MOST_REFUSALS][100];
    int64_t refused[MOST_REFUSALS];
    int n_found;
    Found found[MOST_FOUND];
} Shared;

/* A kind of finding, by what is left of it when it is shrunk. */
typedef struct Known {
    char name[64];
    int64_t times;
} Known;

typedef struct State {
    const Drive *drive;
    Shared *shared;
    double start, shrinking, logged;
    int n_known;
    int64_t findings;
    Known known[MOST_KNOWN];
} State;

void drive_tasks(Arena *arena, const Drive *drive, int64_t number, const Case *c, Tasks *out)
{
    Rng rng = {mix64(drive->seed + 1) ^ mix64((uint64_t)number + 5)};
    plan_tasks(arena, c, &rng, out);
}

/* ---- in the process of a block ---- */

static int family_number(const char *name)
{
    for (int i = 0; i < family_count; i++)
        if (!strcmp(families[i].name, name))
            return i;
    abort();
}

/* The last line that says something of a refusal. */
static void note_refusal(Shared *shared, const char *message)
{
    char text[100] = {0};
    const char *at = strstr(message, "error: ");
    at = at ? at + 7 : message;
    memcpy(text, at, strcspn(at, "\n") < 99 ? strcspn(at, "\n") : 99);
    for (int i = 0; i < MOST_REFUSALS; i++) {
        if (!*shared->refusals[i])
            memcpy(shared->refusals[i], text, sizeof text);
        if (!strcmp(shared->refusals[i], text)) {
            shared->refused[i]++;
            return;
        }
    }
}

static int case_ops(const Case *c)
{
    int n = 0;
    for (const char *at = strchr(c->text, '='); at; at = strstr(at + 1, "\n  %"))
        n++;
    return n;
}

static void run_graph(Shared *shared, const Drive *drive, int64_t number)
{
    Arena *arena = arena_new();
    Case c;
    Tasks tasks = {0};
    shared->number = number;
    shared->task = -1;
    alarm(TASK_SECONDS);
    generate_case(arena, drive->seed, number, drive->family, &c);
    drive_tasks(arena, drive, number, &c, &tasks);
    int family = family_number(c.family), ops = case_ops(&c);
    for (size_t i = 0; i < tasks.count && shared->n_found < MOST_FOUND; i++) {
        shared->task = (int)i;
        alarm(TASK_SECONDS);
        Outcome o = check_case(&c, tasks.data[i].check, &tasks.data[i].run,
                               &shared->by_family_seen[family]);
        shared->by_check[tasks.data[i].check][o.result]++;
        if (o.result == RESULT_REFUSED)
            note_refusal(shared, o.message);
        else if (o.result != RESULT_OK)
            shared->found[shared->n_found++] = (Found){number, (int)i, o};
    }
    alarm(0);
    shared->graphs++;
    shared->ops += ops;
    shared->by_family[family]++;
    shared->ops_of_family[family] += ops;
    arena_free(arena);
}

static void run_block(State *s, int64_t number)
{
    const Drive *drive = s->drive;
    int64_t last = drive->from + drive->graphs;
    for (int i = 0; i < BLOCK && number < last; i++, number++) {
        if (s->shared->n_found || (drive->seconds && clock_seconds() - s->start > drive->seconds))
            break;
        run_graph(s->shared, drive, number);
    }
    _exit(0);
}

/* ---- findings ---- */

/* "passes.simplify.reduce_sum+mul": the check, where, and the ops that are left. */
static void name_finding(const Case *c, Check check, const Outcome *o, char name[64])
{
    Text text = {0};
    text_add(&text, "%s.%s.%s", check_names[check], result_names[o->result], o->where);
    uint64_t ops = 0;
    for (int kind = 0; kind < OP_COUNT; kind++) {
        char word[40];
        snprintf(word, sizeof word, "= %s ", op_info[kind].name);
        if (op_info[kind].family != FAMILY_leaf && strstr(c->text, word))
            ops = mix64(ops + (uint64_t)kind + 1);
    }
    snprintf(name, 64, "%.50s.%04x", text.data, (unsigned)(ops & 0xffff));
    text_free(&text);
}

/* Shrinks in a process of its own, which writes the file; the name by way of a pipe. */
static bool shrink_finding(State *s, const Found *found, char name[64])
{
    int ends[2], status;
    if (pipe(ends))
        return false;
    pid_t child = fork();
    if (child == 0) {
        Arena *arena = arena_new();
        Case c;
        Tasks tasks = {0};
        generate_case(arena, s->drive->seed, found->number, s->drive->family, &c);
        drive_tasks(arena, s->drive, found->number, &c, &tasks);
        Task task = tasks.data[found->task < 0 ? 0 : found->task];
        Outcome as = found->as;
        shrink_case(arena, &c, task.check, &task.run, &as, SHRINK_SECONDS);
        name_finding(&c, task.check, &as, name);
        char path[512];
        snprintf(path, sizeof path, "%s/%s.tir", s->drive->out, name);
        if (!file_exists(path))
            case_write(path, &c, task.check, &task.run, &as);
        _exit(write(ends[1], name, 64) != 64);
    }
    close(ends[1]);
    bool ok = child > 0 && read(ends[0], name, 64) == 64;
    close(ends[0]);
    if (child > 0)
        waitpid(child, &status, 0);
    return ok;
}

static Known *know(State *s, const char *name)
{
    for (int i = 0; i < s->n_known; i++)
        if (!strcmp(s->known[i].name, name))
            return &s->known[i];
    if (s->n_known == MOST_KNOWN)
        return &s->known[MOST_KNOWN - 1];
    Known *known = &s->known[s->n_known++];
    snprintf(known->name, sizeof known->name, "%s", name);
    return known;
}

static void report_finding(State *s, const Found *found)
{
    char name[64];
    Arena *arena = arena_new();
    Case c;
    Tasks tasks = {0};
    generate_case(arena, s->drive->seed, found->number, s->drive->family, &c);
    drive_tasks(arena, s->drive, found->number, &c, &tasks);
    const Task *task = &tasks.data[found->task < 0 ? 0 : found->task];
    Text run = {0};
    run_print(&task->run, &run);
    s->findings++;
    printf("found: graph %" PRId64 " of seed %" PRIu64 " (%s), %s %s: %s: %.300s\n", found->number,
           s->drive->seed, c.family, check_names[task->check], run.data,
           result_names[found->as.result], found->as.message);
    text_free(&run);
    arena_free(arena);
    double begin = clock_seconds();
    bool shrink = !s->drive->first && s->shrinking < 0.5 * (begin - s->start) + 2 * SHRINK_SECONDS;
    if (shrink && shrink_finding(s, found, name)) {
        know(s, name)->times++;
        printf("  as %s/%s.tir\n", s->drive->out, name);
    }
    s->shrinking += clock_seconds() - begin;
    fflush(stdout);
}

/* ---- counts ---- */

static void print_counts(const State *s, FILE *out)
{
    const Shared *shared = s->shared;
    fprintf(out,
            "%" PRId64 " graphs, %" PRId64 " ops, %.2f hours, seed %" PRIu64 ", last graph %" PRId64
            ", %" PRId64 " findings\n",
            shared->graphs, shared->ops, (clock_seconds() - s->start) / 3600, s->drive->seed,
            shared->number, s->findings);
    Seen all = {0};
    for (int f = 0; f < family_count; f++) {
        const Seen *seen = &shared->by_family_seen[f];
        if (!shared->by_family[f])
            continue;
        fprintf(out,
                "  %-10s %7" PRId64 " graphs %6.1f ops  regions: %" PRId64 " row %" PRId64
                " column %" PRId64 " attention; %" PRId64 " chunks %" PRId64 " epilogues %" PRId64
                " panels %" PRId64 " kept; checked closely %.0f%%\n",
                families[f].name, shared->by_family[f],
                (double)shared->ops_of_family[f] / (double)shared->by_family[f], seen->rows,
                seen->columns, seen->attentions, seen->chunks, seen->epilogues, seen->panels,
                seen->kept,
                seen->elements ? 100.0 * (double)seen->decided / (double)seen->elements : 0);
        for (int p = 0; p < pass_count; p++)
            all.passes[p] += seen->passes[p];
        all.causal += seen->causal;
        all.causal_elements += seen->causal_elements;
        all.steps += seen->steps;
        all.undecodable += seen->undecodable;
    }
    for (int check = 0; check < CHECK_COUNT; check++) {
        fprintf(out, "  %-12s", check_names[check]);
        for (int r = 0; r < RESULT_COUNT; r++)
            if (shared->by_check[check][r])
                fprintf(out, " %" PRId64 " %s", shared->by_check[check][r], result_names[r]);
        fprintf(out, "\n");
    }
    fprintf(out,
            "  %" PRId64 " causal values, %" PRId64 " elements; %" PRId64
            " decoding steps, %" PRId64 " decoders refused\n",
            all.causal, all.causal_elements, all.steps, all.undecodable);
    fprintf(out, "  functions changed by pass:");
    for (int p = 0; p < pass_count; p++)
        fprintf(out, " %s %" PRId64, pass_info[p].name, all.passes[p]);
    fprintf(out, "\n");
    for (int i = 0; i < MOST_REFUSALS && *shared->refusals[i]; i++)
        fprintf(out, "  refused %" PRId64 " times: %s\n", shared->refused[i], shared->refusals[i]);
    for (int i = 0; i < s->n_known; i++)
        fprintf(out, "  %" PRId64 " × %s\n", s->known[i].times, s->known[i].name);
    fflush(out);
}

static void write_log(State *s, bool at_once)
{
    if (!s->drive->log || (!at_once && clock_seconds() - s->logged < 60))
        return;
    s->logged = clock_seconds();
    FILE *out = fopen(s->drive->log, "w");
    if (!out)
        return;
    print_counts(s, out);
    fclose(out);
}

/* ---- the loop ---- */

/* What ended the process: a finding at the graph and task where it was. */
static void note_death(Shared *shared, int status)
{
    bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    Outcome o = late ? outcome(RESULT_TIMEOUT, "time", "more than %d seconds", TASK_SECONDS)
                     : outcome(RESULT_CRASHED, "crash", "signal %d, exit %d",
                               WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                               WIFEXITED(status) ? WEXITSTATUS(status) : 0);
    if (shared->n_found < MOST_FOUND)
        shared->found[shared->n_found++] = (Found){shared->number, shared->task, o};
    shared->graphs++;
}

int drive_run(const Drive *drive)
{
    State s = {.drive = drive, .start = clock_seconds()};
    s.shared =
        mmap(NULL, sizeof *s.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    if (s.shared == MAP_FAILED || !file_make_folder(&diags, drive->out)) {
        fprintf(stderr, "graphs: %s cannot be made\n", drive->out);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    int64_t next = drive->from, last = drive->from + drive->graphs;
    s.shared->number = next - 1;
    while (next < last && !(drive->seconds && clock_seconds() - s.start > drive->seconds) &&
           !(drive->first && s.findings)) {
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            run_block(&s, next);
        if (child < 0 || waitpid(child, &status, 0) < 0)
            break;
        if (status)
            note_death(s.shared, status);
        for (int i = 0; i < s.shared->n_found; i++)
            report_finding(&s, &s.shared->found[i]);
        s.shared->n_found = 0;
        next = s.shared->number + 1;
        write_log(&s, false);
    }
    print_counts(&s, stdout);
    write_log(&s, true);
    arena_free(arena);
    return s.findings > 0;
}
