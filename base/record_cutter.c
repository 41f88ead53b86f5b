/* Ends of records in the bytes that a source has. */
#include "base/record_cutter.h"

#include <errno.h>
#include <string.h>

enum { MARK_BYTES = 3, MOST_SKIPPED = 1000 /* times the longest record */ };

/* Before a record. */
static void begin_search(RecordCutter *c)
{
    c->seen = c->line_begin = c->whole;
    c->newlines = 0;
    c->in_quotes = c->counts = false;
    c->object = (ObjectScan){0};
}

void record_cutter_begin(RecordCutter *c, RecordRule rule)
{
    *c = (RecordCutter){.source = c->source, .rule = rule, .skipped = -1};
}

bool record_cutter_open(RecordCutter *c, const char *path, RecordRule rule)
{
    *c = (RecordCutter){.source = {.fd = -1}};
    if (!byte_source_open(&c->source, path))
        return false;
    record_cutter_begin(c, rule);
    return true;
}

void record_cutter_close(RecordCutter *c) { byte_source_close(&c->source); }

bool record_cutter_seek(RecordCutter *c, int64_t bytes, int64_t lines)
{
    record_cutter_begin(c, c->rule);
    c->at = bytes;
    c->line = lines;
    return byte_source_seek(&c->source, bytes);
}

/* ---- ends of records ---- */

/* Follows the quotes of n bytes from `at` on. */
static void follow_quotes(RecordCutter *c, size_t at, size_t n)
{
    const char *from = c->source.data + at, *end = from + n;
    for (const char *quote = from; (quote = memchr(quote, '"', (size_t)(end - quote))); quote++) {
        c->in_quotes = !c->in_quotes;
        c->open_at = c->at + (quote - c->source.data);
    }
}

static bool is_empty_line(const char *line, size_t n)
{
    return n == 0 || (n == 1 && *line == '\r');
}

static bool is_blank_line(const char *line, size_t n)
{
    size_t i = 0;
    while (i < n && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r'))
        i++;
    return i == n;
}

static bool is_passed(const RecordRule *rule, const char *line, size_t n)
{
    for (const char *const *begin = rule->passed; begin && *begin; begin++)
        if (n >= strlen(*begin) && !memcmp(line, *begin, strlen(*begin)))
            return true;
    return false;
}

/* Whether the line of n bytes, which ends before `stop`, ends the record. */
static bool line_ends_record(RecordCutter *c, size_t n, size_t stop)
{
    const char *line = c->source.data + c->line_begin;
    if (c->rule.joins_empty && !c->counts) {
        c->counts = !is_empty_line(line, n);
        if (!c->counts)
            return false;
    }
    if (c->rule.ends == RECORD_QUOTED)
        return !c->in_quotes || c->at + (int64_t)stop - c->open_at > (int64_t)c->rule.quoted + 2;
    if (c->rule.ends == RECORD_LINES)
        return true;
    if (is_blank_line(line, n))
        return c->counts;
    c->counts = c->counts || !is_passed(&c->rule, line, n);
    return false;
}

static bool find_object_end(RecordCutter *c)
{
    const ByteSource *s = &c->source;
    while (c->seen < s->length) {
        const char byte = s->data[c->seen++];
        c->newlines += byte == '\n';
        const bool ends = object_scan(&c->object, byte);
        c->counts = c->counts || ends || c->object.depth;
        c->closed = c->closed || (byte == ']' && !c->counts && !c->object.in_string);
        if (ends) {
            c->whole = c->seen;
            return true;
        }
    }
    return false;
}

/* Searches on for the end of the record behind the whole ones; true: it is found, and whole. */
static bool find_record_end(RecordCutter *c)
{
    const ByteSource *s = &c->source;
    if (c->rule.ends == RECORD_OBJECTS)
        return find_object_end(c);
    while (c->seen < s->length) {
        const char *newline = memchr(s->data + c->seen, '\n', s->length - c->seen);
        const size_t stop = newline ? (size_t)(newline + 1 - s->data) : s->length;
        if (c->rule.ends == RECORD_QUOTED)
            follow_quotes(c, c->seen, stop - c->seen);
        c->seen = stop;
        if (!newline)
            return false;
        c->newlines++;
        const bool ends = line_ends_record(c, stop - 1 - c->line_begin, stop);
        c->line_begin = stop;
        if (ends) {
            c->whole = stop;
            return true;
        }
    }
    return false;
}

/* Whether records are whole lines. */
static bool ends_lines(const RecordCutter *c) { return c->rule.ends != RECORD_OBJECTS; }

static bool is_over(const RecordCutter *c)
{
    return c->source.length - c->whole > c->rule.longest + 1; /* with a CR */
}

/* ---- one by one ---- */

/* Passes the first bytes. */
static void pass_bytes(RecordCutter *c, size_t n)
{
    byte_source_pass(&c->source, n);
    c->at += (int64_t)n;
    c->whole = 0;
}

/* Drops what has come of a record that is skipped; true: all of it has, or no more comes. */
static bool skip_record(RecordCutter *c)
{
    if (c->skipped < 0)
        return true;
    const bool ends = find_record_end(c);
    const size_t n = ends ? c->whole : c->source.length;
    c->skipped += (int64_t)n;
    pass_bytes(c, n);
    c->seen = c->line_begin = 0;
    if (!ends && !c->source.at_end) {
        c->is_endless = (c->source.size < 0 || c->source.is_packed) &&
                        c->skipped / MOST_SKIPPED > (int64_t)c->rule.longest;
        return c->is_endless;
    }
    /* the line in which the record was cut has been counted */
    c->line += c->newlines - (ends && ends_lines(c));
    c->skipped = -1;
    begin_search(c);
    return true;
}

/* Drops the mark, which is known once three bytes are. */
static void drop_mark(RecordCutter *c)
{
    if (c->at == 0 && c->source.length >= MARK_BYTES &&
        !memcmp(c->source.data, "\xEF\xBB\xBF", MARK_BYTES)) {
        pass_bytes(c, MARK_BYTES);
        begin_search(c);
        c->has_mark = true;
    }
}

/* Whether what has been read decides the next result. */
static bool next_is_decided(RecordCutter *c)
{
    drop_mark(c);
    return skip_record(c) &&
           (c->is_endless || c->whole || find_record_end(c) || c->source.at_end || is_over(c));
}

bool record_ready(RecordCutter *c)
{
    while (!next_is_decided(c)) {
        if (!byte_source_ready(&c->source))
            return false;
        byte_source_more(&c->source, BYTE_BLOCK);
    }
    return true;
}

void record_cutter_end(RecordCutter *c)
{
    byte_source_end(&c->source);
    c->whole = 0;
    c->skipped = -1;
    begin_search(c);
}

static RecordStatus fail_record(RecordCutter *c)
{
    record_cutter_end(c);
    return RECORD_FAILED;
}

/* Whether nothing of a record stands between the last one and the end of the file. */
static bool has_empty_rest(const RecordCutter *c)
{
    const ByteSource *s = &c->source;
    if (!s->at_end || c->counts)
        return false;
    return !ends_lines(c) || (c->rule.joins_empty &&
                              is_empty_line(s->data + c->line_begin, s->length - c->line_begin));
}

RecordStatus record_next(RecordCutter *c, Record *record)
{
    while (!next_is_decided(c))
        byte_source_more(&c->source, BYTE_BLOCK);
    if (c->is_endless || (!c->whole && c->source.at_end && byte_source_problem(&c->source)))
        return fail_record(c);
    const size_t n = c->whole ? c->whole : c->source.length;
    if (!n)
        return RECORD_END;
    if (!c->whole && has_empty_rest(c)) {
        c->line += c->newlines;
        pass_bytes(c, n);
        begin_search(c);
        return RECORD_END;
    }
    const bool has_rest = !c->whole && !c->source.at_end, ends = c->source.data[n - 1] == '\n';
    *record = (Record){.text = c->source.data, .length = n - ends, .has_mark = c->has_mark};
    record->has_cr = record->length && record->text[record->length - 1] == '\r';
    record->length -= record->has_cr;
    record->is_cut = record->length > c->rule.longest;
    c->has_mark = false;
    c->line += c->newlines + (ends_lines(c) && (has_rest || !ends));
    pass_bytes(c, n);
    if (!has_rest) {
        begin_search(c);
        return RECORD_READ;
    }
    c->skipped = c->newlines = 0; /* the rest is in the same quotes */
    c->seen = c->line_begin = 0;
    return RECORD_READ;
}

void record_skip(RecordCutter *c)
{
    while (!skip_record(c))
        byte_source_more(&c->source, BYTE_BLOCK);
}

/* ---- many at once ---- */

/* Finds the whole records that are there, as many as the part takes; true: it takes no more. */
static bool fill_records(RecordCutter *c, const RecordPart *part, int64_t *records)
{
    while (*records < part->records && c->whole < part->bytes) {
        if (!find_record_end(c))
            return false;
        begin_search(c);
        ++*records;
    }
    return true;
}

bool record_part(RecordCutter *c, const RecordPart *part, size_t *bytes)
{
    enum { PART_BLOCK = 1 << 20 };
    ByteSource *s = &c->source;
    int64_t records = 0;
    c->whole = 0;
    begin_search(c);
    bool is_full;
    while (!(is_full = fill_records(c, part, &records)) && !is_over(c) &&
           (!c->whole || part->waits || byte_source_ready(s)) && byte_source_more(s, PART_BLOCK))
        continue;
    *bytes = c->whole && (is_full || !s->at_end) ? c->whole : s->length;
    c->whole = 0;
    begin_search(c);
    return !byte_source_problem(s);
}

void record_pass(RecordCutter *c, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        c->line += c->source.data[i] == '\n';
    pass_bytes(c, bytes);
    begin_search(c);
}

size_t record_lines_bytes(const RecordCutter *c, int64_t lines)
{
    size_t at = 0;
    for (; lines > 0 && at < c->source.length; at++)
        lines -= c->source.data[at] == '\n';
    return at;
}
