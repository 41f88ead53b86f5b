/* Reading batches of given lengths. */
#include "driver/values/lengths.h"

#include "runtime/data/lines.h"

enum { LONGEST = 1 << 20 };

/* A whole number from 1 to LONGEST at *at, which goes on past it; 0: there is none. */
static int32_t read_length(const char **at, const char *end)
{
    int64_t length = 0;
    const char *from = *at;
    for (; *at < end && **at >= '0' && **at <= '9' && length <= LONGEST; ++*at)
        length = 10 * length + (**at - '0');
    return *at == from || length > LONGEST ? 0 : (int32_t)length;
}

static bool read_pair(const char **at, const char *end, int32_t *source, int32_t *target)
{
    *source = read_length(at, end);
    if (!*source || *at == end || *(*at)++ != ':')
        return false;
    *target = read_length(at, end);
    return *target && (*at == end || **at == ' ');
}

static bool read_batch(Job *job, const Lines *lines, int64_t i, BatchLengths *batch)
{
    const char *at = lines->at[i].text, *end = at + lines->at[i].length;
    int64_t room = (int64_t)lines->at[i].length / 2 + 1;
    *batch = (BatchLengths){0, ARENA_ARRAY(job->arena, int32_t, room),
                            ARENA_ARRAY(job->arena, int32_t, room)};
    for (;; batch->n++) {
        while (at < end && *at == ' ')
            at++;
        if (at == end)
            break;
        if (!read_pair(&at, end, &batch->source[batch->n], &batch->target[batch->n])) {
            diag_error(&job->diags, lines_place(lines, i),
                       "sentence %lld is not SOURCE:TARGET, lengths from 1 to %d",
                       (long long)batch->n + 1, LONGEST);
            return false;
        }
    }
    if (!batch->n)
        diag_error(&job->diags, lines_place(lines, i), "a batch without a sentence");
    return batch->n > 0;
}

int64_t lengths_read(Job *job, const char *path, BatchLengths **batches)
{
    const Lines *lines = lines_read(&job->diags, job->arena, path, NULL);
    if (!lines)
        return 0;
    if (!lines->n)
        job_error(job, "%s: there is no batch in it", path);
    *batches = ARENA_ARRAY(job->arena, BatchLengths, lines->n);
    for (int64_t i = 0; i < lines->n; i++)
        if (!read_batch(job, lines, i, &(*batches)[i]))
            return 0;
    return lines->n;
}
