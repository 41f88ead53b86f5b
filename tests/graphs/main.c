/* The driver: random graphs for a time or a number, or cases read again from files.
 *
 *   graphs [--seconds N] [--graphs N] [--seed N] [--from N] [--only N] [--family NAME]
 *          [--out FOLDER] [--log FILE] [--first] [--print]
 *   graphs --replay PATH...
 *   graphs --show PATH        the function of a case after the passes, and its plan
 *
 * Graphs are run by blocks in a process of their own, so that a crash or a loop without end
 * is a finding like any other. Findings are shrunk and written to --out. --first ends at the
 * first one: what mutations are measured by. Fails if something was found. */
#define _GNU_SOURCE
#include "tests/graphs/driver.h"

#include "ir/text.h"

#include <dirent.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- replaying ---- */

static bool replay_task(const Case *c, const Task *task, const char *path)
{
    Outcome o = check_apart(c, task->check, &task->run, 120);
    if (o.result == RESULT_OK || o.result == RESULT_REFUSED)
        return true;
    Text run = {0};
    run_print(&task->run, &run);
    printf("%s: %s %s: %s (%s): %s\n", path, check_names[task->check], run.data,
           result_names[o.result], o.where, o.message);
    text_free(&run);
    return false;
}

/* The check that the file names, and all others that a small case is worth. */
static bool replay_file(const char *path)
{
    Arena *arena = arena_new();
    Case c;
    Task own;
    Tasks tasks = {0};
    bool ok = case_read(arena, path, &c, &own);
    if (!ok)
        printf("%s: not a case\n", path);
    else {
        vec_push(arena, tasks, own);
        plan_all_tasks(arena, &c, &own.run, &tasks);
    }
    for (size_t i = 0; i < tasks.count; i++)
        ok = replay_task(&c, &tasks.data[i], path) && ok;
    arena_free(arena);
    return ok;
}

static int is_case(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 4 && !strcmp(entry->d_name + n - 4, ".tir");
}

static int replay(int n, char **paths)
{
    int failed = 0, count = 0;
    for (int i = 0; i < n; i++) {
        struct dirent **entries;
        int files = scandir(paths[i], &entries, is_case, alphasort);
        if (files < 0) {
            failed += !replay_file(paths[i]);
            count++;
        }
        for (int k = 0; k < files; k++) {
            char path[1024];
            snprintf(path, sizeof path, "%s/%s", paths[i], entries[k]->d_name);
            failed += !replay_file(path);
            count++;
            free(entries[k]);
        }
        if (files >= 0)
            free(entries);
    }
    printf("%d cases, %d failed\n", count, failed);
    return failed || !count;
}

static int show(const char *path)
{
    Arena *arena = arena_new();
    Case c;
    Task task;
    Opened opened;
    Text text = {0};
    if (!case_read(arena, path, &c, &task) || !case_open(&opened, &c, &task.run)) {
        fprintf(stderr, "%s: not a case\n", path);
        return 2;
    }
    const TfcProgram *program = NULL;
    if (lower_opened(&task.run, &opened, &c.batches[0], run_pipeline(&task.run))) {
        function_number(opened.function);
        ir_print_function(opened.function, &text);
        fputs(text.data, stdout);
        fflush(stdout); /* before the plan, which may be what fails */
        text.length = 0;
        program = codegen_plan(opened.function, arena, NULL, &opened.diags);
    }
    if (program)
        plan_print(program, &text);
    diag_render(&opened.diags, &text);
    fwrite(text.data ? text.data : "", 1, text.length, stdout);
    text_free(&text);
    case_close(&opened);
    arena_free(arena);
    return 0;
}

/* ---- graphs ---- */

static void print_case(const Drive *drive)
{
    Arena *arena = arena_new();
    Case c;
    generate_case(arena, drive->seed, drive->from, drive->family, &c);
    printf("# family %s, %d batches\n%s", c.family, c.n_batches, c.text);
    Tasks tasks = {0};
    drive_tasks(arena, drive, drive->from, &c, &tasks);
    for (size_t i = 0; i < tasks.count; i++) {
        Text run = {0};
        run_print(&tasks.data[i].run, &run);
        printf("# check %s %s\n", check_names[tasks.data[i].check], run.data);
        text_free(&run);
    }
    arena_free(arena);
}

static int usage(void)
{
    fputs(
        "usage: graphs [--seconds N] [--graphs N] [--seed N] [--from N] [--only N] [--family NAME]\n"
        "              [--out FOLDER] [--log FILE] [--first] [--print]\n"
        "       graphs --replay PATH...\n       graphs --show PATH\nfamilies:\n",
        stderr);
    for (int i = 0; i < family_count; i++)
        fprintf(stderr, "  %-12s %s\n", families[i].name, families[i].help);
    return 2;
}

static bool known_family(const char *name)
{
    for (int i = 0; i < family_count; i++)
        if (!strcmp(families[i].name, name))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    enum { SECONDS = 256, GRAPHS, SEED, FROM, ONLY, FAMILY, OUT, LOG, FIRST, PRINT, REPLAY, SHOW };
    static const struct option options[] = {
        /* clang-format off */
        {"seconds", 1, NULL, SECONDS},
        {"graphs", 1, NULL, GRAPHS},
        {"seed", 1, NULL, SEED},
        {"from", 1, NULL, FROM},
        {"only", 1, NULL, ONLY},
        {"family", 1, NULL, FAMILY},
        {"out", 1, NULL, OUT},
        {"log", 1, NULL, LOG},
        {"first", 0, NULL, FIRST},
        {"print", 0, NULL, PRINT},
        {"replay", 0, NULL, REPLAY},
        {"show", 1, NULL, SHOW},
        {0},
        /* clang-format on */
    };
    Drive drive = {.seed = 1, .seconds = 0, .graphs = INT64_MAX, .out = "build/graphs"};
    bool print = false, files = false;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (option) {
        case SECONDS: drive.seconds = atof(optarg); break;
        case GRAPHS: drive.graphs = strtoll(optarg, NULL, 10); break;
        case SEED: drive.seed = strtoull(optarg, NULL, 10); break;
        case FROM: drive.from = strtoll(optarg, NULL, 10); break;
        case ONLY: drive.from = strtoll(optarg, NULL, 10), drive.graphs = 1; break;
        case FAMILY: drive.family = optarg; break;
        case OUT: drive.out = optarg; break;
        case LOG: drive.log = optarg; break;
        case FIRST: drive.first = true; break;
        case PRINT: print = true; break;
        case SHOW: return show(optarg);
        case REPLAY: files = true; break;
        default: return usage();
        }
    if (files)
        return replay(argc - optind, argv + optind);
    if (optind < argc || (!drive.seconds && drive.graphs == INT64_MAX && !print) ||
        (drive.family && !known_family(drive.family)))
        return usage();
    if (print) {
        print_case(&drive);
        return 0;
    }
    return drive_run(&drive);
}
