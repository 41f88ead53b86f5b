/* Records of JSON lines and lists (runtime/rows/record_json.h), as a table has them. */
#include "runtime/data/table_reader.h"
#include "runtime/rows/record_json.h"

#include <string.h>

/* Names the keys that the record, a good one, has instead. */
static void tell_missing(TableReader *r, int64_t number, const Line *record, size_t k, Line *cells)
{
    const Line *field = &r->head->fields[k];
    RecordKeys keys = {0};
    RowFault fault;
    const RecordFields again = {r->head->fields, r->head->n_fields, r->scratch, &keys,
                                r->head->takes};
    record_read_json(&again, record, cells, &fault);
    table_fault(r, number, record->text, "the record has no field '%.*s'%s%s", (int)field->length,
                field->text, text_known(r->scratch, "'", field->text, keys.data, keys.count),
                table_other_field(r, k));
}

/* The line of a place that is in `line` or behind. */
static int64_t line_of(const TableReader *r, int64_t line, const char *at)
{
    while (line + 1 < r->lines->n && r->lines->at[line + 1].text <= at)
        line++;
    return line;
}

/* The record that begins in the line `number`. */
static int64_t read_object(TableReader *r, int64_t number, const Line *record, Line *cells,
                           size_t room)
{
    const RecordFields fields = {r->head->fields, room, r->arena, NULL, r->head->takes};
    RowFault fault;
    if (!record_read_json(&fields, record, cells, &fault)) {
        const char *at = record->text + fault.at;
        return table_fault(r, line_of(r, number, at), at, "%s", fault.text);
    }
    for (size_t k = 0; k < room; k++)
        if (!cells[k].text)
            return tell_missing(r, number, record, k, cells), TABLE_BAD;
    return (int64_t)room;
}

int64_t table_next_json(TableReader *r, Line *cells, size_t room)
{
    const int64_t number = r->line++;
    return read_object(r, number, &r->lines->at[number], cells, room);
}

/* ---- lists ---- */

static const char *text_end(const TableReader *r)
{
    return r->lines->source->text + r->lines->source->length;
}

static void pass_blanks(TableReader *r)
{
    while (r->at < text_end(r) && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
    r->line = line_of(r, r->line, r->at);
}

/* The reader is behind all lines. */
static void end_list(TableReader *r) { r->line = r->lines->n; }

/* From behind a record, or the beginning, to the next one. */
static void pass_mark(TableReader *r, const char *marks, const char *expected)
{
    pass_blanks(r);
    if (r->at == text_end(r)) /* a part, or a list that nothing closes */
        return end_list(r);
    if (*r->at == ']') {
        r->ends = true;
        r->at++;
        pass_blanks(r);
        if (r->at < text_end(r))
            table_fault(r, r->line, r->at, "something after the list: a file has one");
        return end_list(r);
    }
    if (!strchr(marks, *r->at)) {
        table_fault(r, r->line, r->at, "%s", expected);
        return end_list(r);
    }
    r->at++;
    pass_blanks(r);
    if (r->at == text_end(r))
        end_list(r);
}

void table_begin_list(TableReader *r)
{
    r->at = source_start(r->lines->source);
    r->line = 0;
    pass_blanks(r);
    if (r->at < text_end(r) && *r->at == '{') /* of a part that was cut behind the comma */
        return;
    pass_mark(r, "[,", "expected '[': a list of objects, or an object a line");
    if (r->at < text_end(r) && *r->at == ']')
        pass_mark(r, "", "");
}

int64_t table_next_list(TableReader *r, Line *cells, size_t room)
{
    const int64_t number = r->line;
    const char *begin = r->at, *end = text_end(r), *at = begin;
    ObjectScan scan = {0};
    while (at < end && !object_scan(&scan, *at) && (scan.depth || scan.in_string))
        at++;
    at += at < end; /* a byte that begins no object is refused below */
    const Line record = {begin, (size_t)(at - begin)};
    const int64_t n = read_object(r, number, &record, cells, room);
    r->at = at;
    if (n == TABLE_BAD && !scan.depth && at[-1] != '}')
        end_list(r);
    else
        pass_mark(r, ",", "expected ',' or ']' behind the record");
    return n;
}
