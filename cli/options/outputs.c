/* Files that a command would replace without meaning to: an output that it reads as well, that is
 * the file of another output, or that belongs to a run. */
#include "cli/options/options.h"

#include "base/file.h"
#include "driver/run/ownership.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* What `stat` says of a regular file; false: there is none of this name. */
static bool find_file(const char *path, struct stat *file)
{
    return file_stat(path, file) && S_ISREG(file->st_mode);
}

static bool names_file(const char *from, size_t n, const struct stat *file)
{
    char path[PATH_MAX];
    struct stat other;
    return n && n < sizeof path && memcpy(path, from, n) &&
           (path[n] = 0, find_file(path, &other)) && other.st_ino == file->st_ino &&
           other.st_dev == file->st_dev;
}

/* Whether the file stands in a value such as FILE, NAME=FILE, words:FILE, FILE:WEIGHT or
 * FILE,FILE. */
static bool value_has(const char *value, const struct stat *file)
{
    static const char marks[] = "=:,";
    for (const char *from = value;; from++) {
        for (const char *end = from;; end++) {
            end += strcspn(end, marks);
            if (names_file(from, (size_t)(end - from), file))
                return true;
            if (!*end)
                break;
        }
        from += strcspn(from, marks);
        if (!*from)
            return false;
    }
}

/* What else names the file: an argument, "", or an option; NULL: nothing. */
static const char *find_reader(Arena *arena, const Arguments *arguments, const GivenOption *output,
                               const struct stat *file)
{
    for (int i = 0; i < arguments->count; i++)
        if (names_file(arguments->words[i], strlen(arguments->words[i]), file))
            return "";
    for (size_t i = 0; i < arguments->given.count; i++) {
        const GivenOption *other = &arguments->given.data[i];
        if (other != output && other->value && other->option->kind != OPTION_OUTPUT &&
            value_has(other->value, file))
            return arena_printf(arena, " (%s)", option_typed(arena, other->option));
    }
    return NULL;
}

static const Option *find_other_output(const Arguments *arguments, const GivenOption *output)
{
    for (const GivenOption *other = arguments->given.data; other < output; other++)
        if (other->option->kind == OPTION_OUTPUT && !strcmp(other->value, output->value))
            return other->option;
    return NULL;
}

static bool check_output(Job *job, const Arguments *arguments, const GivenOption *output)
{
    struct stat file;
    const char *name = option_typed(job->arena, output->option), *path = output->value;
    const Option *other = find_other_output(arguments, output);
    const bool is_there = find_file(path, &file);
    const char *reader = is_there ? find_reader(job->arena, arguments, output, &file) : NULL;
    const char *run = is_there ? ownership_run_of(job->arena, path) : NULL;
    if (reader)
        cli_usage_error("%s %s is read, too%s: write to another file", name, path, reader);
    else if (run)
        cli_usage_error("%s %s belongs to the run %s: write to another file", name, path, run);
    else if (other && (is_there || !file_exists(path)))
        cli_usage_error("%s and %s are one file, %s: name two", option_typed(job->arena, other),
                        name, path);
    else
        return true;
    return false;
}

bool options_check_outputs(Job *job, const Arguments *arguments)
{
    for (size_t i = 0; i < arguments->given.count; i++)
        if (arguments->given.data[i].option->kind == OPTION_OUTPUT &&
            !check_output(job, arguments, &arguments->given.data[i]))
            return false;
    return true;
}
