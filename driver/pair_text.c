/* Reading pairs of one file. */
#include "driver/pair_text.h"

#include "base/file.h"
#include "base/machine.h"
#include "runtime/data/tmx.h"

Lines *pair_text_read(Job *job, const char *path, const char *languages, int64_t line_limit, Lines **targets)
{
    const Lines *lines;
    if (text_ends(path, ".tmx")) {
        const Source *file = file_read(&job->diags, job->arena, path, (size_t)machine_memory_free() / 4);
        const Source *pairs = file ? tmx_parse(&job->diags, job->arena, file, languages) : NULL;
        lines = pairs ? lines_parse(&job->diags, job->arena, pairs, line_limit) : NULL;
    } else {
        lines = lines_read(&job->diags, job->arena, path, &(LineLimits){.line = line_limit});
    }
    return lines ? lines_columns(&job->diags, job->arena, lines, targets) : NULL;
}
