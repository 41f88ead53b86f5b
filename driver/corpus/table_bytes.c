/* Reading the bytes of tables, and searching them for ends of records. */
#define _GNU_SOURCE
#include "driver/corpus/table_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 20 };

/* ---- files ---- */

/* Whether bytes can be read without waiting longer for a writer; -1: as long as it takes. */
static bool await_bytes(int fd, int milliseconds)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, milliseconds) > 0;
}

/* read(), which goes on after signals, and waits where a file is set not to block. */
static ssize_t read_again(int fd, void *out, size_t size)
{
    ssize_t n;
    do
        n = read(fd, out, size);
    while (n < 0 && (errno == EINTR || (errno == EAGAIN && await_bytes(fd, -1))));
    return n;
}

/* Copies what can be read into a file that has no name, which takes the place of `fd`. False: errno
 * says why. */
static bool spool_file(TableBytes *file)
{
    char block[1 << 16];
    FILE *spool = tmpfile();
    ssize_t n = spool ? 1 : -1;
    while (n > 0 && (n = read_again(file->fd, block, sizeof block)) > 0)
        if (fwrite(block, 1, (size_t)n, spool) != (size_t)n)
            n = -1;
    const int copy = n == 0 && !fflush(spool) ? dup(fileno(spool)) : -1, error = errno;
    if (spool)
        fclose(spool);
    errno = error;
    if (copy < 0)
        return false;
    close(file->fd);
    file->fd = copy;
    return lseek(copy, 0, SEEK_SET) == 0;
}

bool table_bytes_open(TableBytes *file, Diagnostics *diags, const char *path, bool rewinds)
{
    const bool is_stdin = !strcmp(path, "-");
    *file = (TableBytes){.path = path,
                         .name = is_stdin ? "<standard input>" : path,
                         .fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)};
    file->begin = file->fd < 0 ? 0 : (int64_t)lseek(file->fd, 0, SEEK_CUR);
    bool ok = file->fd >= 0;
    if (ok && rewinds && file->begin < 0) {
        file->begin = 0;
        ok = spool_file(file);
    }
    if (!ok)
        diag_errno(diags, "read", path, errno);
    return ok;
}

bool table_bytes_rewind(TableBytes *file, Diagnostics *diags)
{
    packed_text_close(file->packed);
    file->packed = NULL;
    if (lseek(file->fd, (off_t)file->begin, SEEK_SET) >= 0)
        return true;
    diag_errno(diags, "read", file->path, errno);
    return false;
}

void table_bytes_close(TableBytes *file)
{
    packed_text_close(file->packed);
    if (file->fd >= 0)
        close(file->fd);
    *file = (TableBytes){.path = file->path, .name = file->name, .fd = -1};
}

static bool reading_failed(const TableBytes *file, Diagnostics *diags)
{
    int error = errno;
    const char *problem = file->packed ? packed_text_problem(file->packed, &error) : NULL;
    if (problem)
        diag_file(diags, "read", file->path, "%s", problem);
    else
        diag_errno(diags, "read", file->path, error);
    return false;
}

/* Whether there is more that can be read without waiting for a writer. */
static bool has_more(const TableBytes *file)
{
    return (file->packed && packed_text_ready(file->packed)) || await_bytes(file->fd, 0);
}

/* ---- records ---- */

void record_cut_begin(RecordCut *cut) { *cut = (RecordCut){.data = cut->data, .room = cut->room}; }

void record_cut_free(RecordCut *cut)
{
    free(cut->data);
    *cut = (RecordCut){0};
}

/* Appends what is read at once. */
static bool read_block(RecordCut *cut, TableBytes *file, Diagnostics *diags)
{
    if (cut->room < cut->length + READ_BYTES + 1) {
        cut->room = cut->length + cut->length / 2 + READ_BYTES + 1;
        cut->data = memory_resized(cut->data, cut->room);
    }
    char *to = cut->data + cut->length;
    const ssize_t n = file->packed ? packed_text_read(file->packed, to, READ_BYTES)
                                   : read_again(file->fd, to, READ_BYTES);
    if (n < 0)
        return reading_failed(file, diags);
    cut->at_end = n == 0;
    cut->length += (size_t)n;
    return true;
}

bool record_cut_open(RecordCut *cut, TableBytes *file, Diagnostics *diags)
{
    while (!cut->at_end && (!cut->length || packed_text_is_open(cut->data, cut->length)))
        if (!read_block(cut, file, diags))
            return false;
    if (!packed_text_program(cut->data, cut->length))
        return true;
    file->packed = packed_text_open(cut->data, cut->length, file->fd);
    cut->length = 0;
    cut->at_end = false;
    return read_block(cut, file, diags);
}

static bool is_full(const RecordCut *cut, const RecordLimits *limits)
{
    return cut->records >= limits->records || cut->whole >= limits->bytes;
}

/* Whether the line that ends at `seen` ends a record: it is empty, and has words before it. */
static bool ends_words(RecordCut *cut)
{
    size_t begin = cut->seen;
    while (begin > cut->whole && cut->data[begin - 1] != '\n')
        begin--;
    const char *line = cut->data + begin;
    const size_t n = cut->seen - begin, gap = strspn(line, " \t\r");
    const bool was = cut->in_record, is_empty = gap >= n;
    const bool is_left_out = *line == '#' || !strncmp(line, "-DOCSTART-", strlen("-DOCSTART-"));
    cut->in_record = is_empty ? false : was || !is_left_out;
    return was && is_empty;
}

static void find_ends(RecordCut *cut, const RecordLimits *limits)
{
    for (; cut->seen < cut->length && !is_full(cut, limits); cut->seen++) {
        const char c = cut->data[cut->seen];
        cut->in_quotes ^= limits->has_quotes && c == '"';
        if (c != '\n' || cut->in_quotes || (limits->ends_empty && !ends_words(cut)))
            continue;
        cut->whole = cut->seen + 1;
        cut->records++;
    }
}

/* Searches anew: other limits may hold. */
static void search_again(RecordCut *cut)
{
    cut->seen = cut->whole = 0;
    cut->records = 0;
    cut->in_quotes = cut->in_record = false;
}

bool record_cut_read(RecordCut *cut, TableBytes *file, Diagnostics *diags,
                     const RecordLimits *limits, size_t *bytes)
{
    search_again(cut);
    for (find_ends(cut, limits); !cut->at_end && !is_full(cut, limits); find_ends(cut, limits)) {
        if (cut->length - cut->whole > limits->longest ||
            (cut->whole && !limits->waits && !has_more(file)))
            break;
        if (!read_block(cut, file, diags))
            return false;
    }
    const bool is_last = cut->at_end && !is_full(cut, limits);
    *bytes = cut->whole && !is_last ? cut->whole : cut->length;
    return true;
}

void record_cut_drop(RecordCut *cut, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        cut->lines += cut->data[i] == '\n';
    memmove(cut->data, cut->data + bytes, cut->length - bytes);
    cut->length -= bytes;
    search_again(cut);
}

size_t record_cut_lines(const RecordCut *cut, int64_t lines)
{
    size_t at = 0;
    for (; lines > 0 && at < cut->length; at++)
        lines -= cut->data[at] == '\n';
    return at;
}
