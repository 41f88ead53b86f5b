/* Cutting CoNLL's columns: how many records a cut has is known once it is read, since lines that
 * are left out may be blocks of their own. */
#include "driver/corpus/prepare_parts.h"

#include "driver/corpus/prepare_tables.h"

/* How many records the first bytes have. What is wrong in them is reported when they are read
 * again: until then they count as one record. */
static int64_t count_records(const PrepareOptions *o, TextPart *part, const RecordCutter *cutter,
                             size_t bytes)
{
    Arena *arena = arena_new();
    Diagnostics unseen;
    const LineLimits limits = {.line = o->line_limit};
    diag_init(&unseen, arena);
    const Source source = {.path = part->name[0],
                           .text = arena_strndup(arena, cutter->source.data, bytes),
                           .length = bytes,
                           .lines_before = cutter->line};
    const Table *table = table_parse_part(&unseen, arena, &source, &part->table->head, &limits);
    const int64_t n = table ? table->n : 1;
    part->left_out += table ? table->left_out : 0;
    arena_free(arena);
    return n;
}

void prepare_cut_conll(const PrepareOptions *o, TextPart *part, RecordCutter *cutter)
{
    const RecordPart limits = {.records = o->rows_per_shard ? o->rows_per_shard : INT64_MAX,
                               .bytes = PREPARE_SHARD_BYTES,
                               .waits = true};
    size_t bytes;
    while (record_part(cutter, &limits, &bytes) && bytes) {
        const TextCut next = {.line = cutter->line,
                              .lines = count_records(o, part, cutter, bytes),
                              .at = {cutter->at},
                              .bytes = (int64_t)bytes};
        if (next.lines)
            text_part_add_cut(part, &next);
        part->text[0].lines += next.lines;
        record_pass(cutter, bytes);
    }
}
