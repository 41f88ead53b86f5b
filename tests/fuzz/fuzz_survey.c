/* Corpora of arbitrary bytes: tfc data tells of every one, with as many lines as there are. */
#define _GNU_SOURCE
#include "driver/corpus/survey/survey.h"
#include "tests/fuzz/budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int64_t count_lines(const uint8_t *bytes, size_t size)
{
    int64_t n = 0;
    if (size == 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3)) /* a byte order mark is no line */
        return 0;
    for (size_t i = 0; i < size; i++)
        n += bytes[i] == '\n';
    return n + (size && bytes[size - 1] != '\n');
}

static void check(const SurveyText *text, const uint8_t *bytes, size_t size, int64_t files,
                  int64_t line_limit)
{
    SurveyOptions options = {
        .train = *text, .line_limit = line_limit, .examples = 1000, .lines = true};
    Job job = {.arena = arena_new()};
    diag_init(&job.diags, job.arena);
    vec_push(job.arena, options.valid, *text);
    Survey result;
    bool ok = survey(&job, &options, NULL, &result);
    if (ok == (job.diags.errors != 0) || (ok && result.lines != files * count_lines(bytes, size)))
        abort();
    need_budget(job.arena, BUDGET_TEXT, 2 * (size_t)files * size);
    for (int i = 0; ok && i < SURVEY_KINDS; i++) {
        const SurveyFinding *finding = &result.findings[i];
        if (finding->lines < (int64_t)finding->examples.count || finding->lines > 2 * result.lines)
            abort();
        for (size_t k = 0; k < finding->examples.count; k++) {
            const char *shown = finding->examples.data[k].sides[0];
            for (size_t at = 0, n; shown[at]; at += n)
                if (!(n = utf8_length(shown + at, strlen(shown + at))) ||
                    (unsigned char)shown[at] < ' ')
                    abort();
        }
    }
    arena_free(job.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    int file = memfd_create("survey", 0);
    char path[64];
    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const char *paths[] = {path, path};
    const TextList one = {.data = paths, .count = 1}, two = {.data = paths, .count = 2};
    check(&(SurveyText){.files.data = one}, bytes, size, 1, 0);
    check(&(SurveyText){.files.data = two}, bytes, size, 2, 0);
    check(&(SurveyText){.files.text = one}, bytes, size, 1, 20);
    check(&(SurveyText){.files = {.source = one, .target = one}}, bytes, size, 1, 0);
    close(file);
    return 0;
}
