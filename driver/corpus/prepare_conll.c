/* Cutting CoNLL's columns: how many records a cut has is known once it is read, since lines that
 * are left out may be blocks of their own. */
#include "driver/corpus/prepare_conll.h"

#include "base/sha256.h"
#include "driver/corpus/prepare_files.h"
#include "driver/corpus/prepare_tables.h"
#include "driver/corpus/table_bytes.h"

#include <errno.h>
#include <unistd.h>

/* How many records the first bytes have. What is wrong in them is reported when they are read
 * again: until then they count as one record. */
static int64_t count_records(const PrepareOptions *o, TextPart *part, const RecordCut *cut,
                             size_t bytes)
{
    Arena *arena = arena_new();
    Diagnostics unseen;
    const LineLimits limits = {.line = o->line_limit};
    diag_init(&unseen, arena);
    const Source source = {.path = part->name[0],
                           .text = arena_strndup(arena, cut->data, bytes),
                           .length = bytes,
                           .lines_before = cut->lines};
    const Table *table = table_parse_part(&unseen, arena, &source, &part->table->head, &limits);
    const int64_t n = table ? table->n : 1;
    part->left_out += table ? table->left_out : 0;
    arena_free(arena);
    return n;
}

/* All records of a file that is open; false: it cannot be read. */
static bool cut_file(const PrepareOptions *o, TextPart *part, TableBytes *file, Sha256 *sha,
                     int64_t *at)
{
    RecordCut cut = {0};
    Diagnostics unseen;
    Arena *arena = arena_new();
    size_t bytes = 0;
    const int64_t line = o->line_limit ? o->line_limit : LINE_LIMIT;
    const RecordLimits limits = {.records = o->rows_per_shard ? o->rows_per_shard : INT64_MAX,
                                 .bytes = PREPARE_SHARD_BYTES,
                                 .longest = 2 * (size_t)line + PREPARE_SHARD_BYTES,
                                 .ends_empty = true,
                                 .waits = true};
    diag_init(&unseen, arena);
    bool ok = record_cut_open(&cut, file, &unseen);
    while (ok && (ok = record_cut_read(&cut, file, &unseen, &limits, &bytes)) && bytes) {
        const TextCut next = {.line = cut.lines,
                              .lines = count_records(o, part, &cut, bytes),
                              .at = {*at},
                              .bytes = (int64_t)bytes};
        if (next.lines)
            text_part_add_cut(part, &next);
        part->text[0].lines += next.lines;
        sha256_add(sha, cut.data, bytes);
        *at += (int64_t)bytes;
        record_cut_drop(&cut, bytes);
    }
    record_cut_free(&cut);
    arena_free(arena);
    return ok;
}

void prepare_scan_conll(const PrepareOptions *o, TextPart *part, char *hash)
{
    Arena *arena = arena_new();
    Diagnostics unseen;
    TableBytes file;
    Sha256 sha;
    int64_t at = 0;
    diag_init(&unseen, arena);
    sha256_init(&sha);
    const int fd = prepare_file_open(part->read[0], &part->error);
    if (fd >= 0)
        close(fd);
    bool ok = fd >= 0 && table_bytes_open(&file, &unseen, part->read[0], false);
    if (ok) {
        ok = cut_file(o, part, &file, &sha, &at);
        table_bytes_close(&file);
    }
    if (!ok) {
        part->problem = part->name[0];
        part->error = part->error ? part->error : EIO;
    }
    if (!part->is_made[0]) { /* what was made of a file has that file's */
        sha256_finish_text(&sha, hash);
        part->text[0].sha256 = hash;
        part->text[0].bytes = at;
    }
    arena_free(arena);
}
