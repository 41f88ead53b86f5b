/* Tables of arbitrary bytes. The first byte of an input says how the rest is read: its two lowest
 * bits are the format, BY_NUMBER has fields by number, SHORT_LINES a low limit of lines. A table is
 * accepted, or an error tells why not. What is accepted has valid texts at growing places, and is
 * the same when it is written as CSV and read again; JSON has the values that json_read finds, and
 * is accepted where json_read finds values of all fields. Compressed texts: fuzz_packed.c. */
#include "base/json_read.h"
#include "runtime/data/table.h"
#include "tests/fuzz/budget.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { FORMAT = 3, BY_NUMBER = 4, SHORT_LINES = 8, N_FIELDS = 2, N_FORMATS = 4 };

static const char *const names[] = {"a", "b"}, *const numbers[] = {"2", "1"};

static void need(bool holds)
{
    if (!holds)
        abort();
}

static bool same(const Line *a, const Line *b)
{
    return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

/* ---- tables ---- */

static void check_column(const Table *table, const Lines *column, TableFormat format)
{
    need(column->n == table->n);
    for (int64_t i = 0, line = 0; i < column->n; i++) {
        const Line *value = &column->at[i];
        const Loc place = lines_place(column, i);
        need((format == TABLE_LIST ? place.line >= line : place.line > line) &&
             place.source == column->source);
        line = place.line;
        for (size_t at = 0, n; at < value->length; at += n) {
            n = utf8_length(value->text + at, value->length - at);
            need(n > 0 && value->text[at]);
            need(format != TABLE_TSV || !strchr("\t\n", value->text[at]));
        }
    }
}

static void put_csv(Text *out, const Line *value)
{
    text_put(out, "\"", 1);
    for (size_t i = 0; i < value->length; i++) {
        text_put(out, value->text + i, 1);
        if (value->text[i] == '"')
            text_put(out, "\"", 1);
    }
    text_put(out, "\"", 1);
}

/* Writes the table as CSV and reads it. */
static void check_again(Diagnostics *diags, Arena *arena, const Table *table)
{
    Text csv = {0};
    text_string(&csv, "\"a\",b\r\n");
    for (int64_t i = 0; i < table->n; i++) {
        put_csv(&csv, &table->columns[0]->at[i]);
        text_string(&csv, ",");
        put_csv(&csv, &table->columns[1]->at[i]);
        text_string(&csv, "\r\n");
    }
    const Source *source = diag_source(arena, "again", csv.data, csv.length);
    const Table *again = table_parse(diags, arena, source, TABLE_CSV, names, N_FIELDS, NULL);
    need(again && again->n == table->n && !diags->list.count);
    for (int k = 0; k < N_FIELDS; k++)
        for (int64_t i = 0; i < table->n; i++)
            need(same(&again->columns[k]->at[i], &table->columns[k]->at[i]));
    text_free(&csv);
}

/* ---- JSON ---- */

static bool is_usable(const JsonValue *value)
{
    if (!value || value->kind == JV_NULL || value->kind == JV_OBJECT)
        return false;
    for (size_t i = 0; value->kind == JV_LIST && i < value->n; i++)
        if (value->items[i].kind != JV_INTEGER && value->items[i].kind != JV_NUMBER)
            return false;
    return true;
}

static void check_value(Arena *arena, const JsonValue *value, const Line *got)
{
    const char *text = arena_strndup(arena, got->text, got->length);
    need(is_usable(value));
    need(value->kind == JV_STRING    ? !strcmp(text, value->text)
         : value->kind == JV_INTEGER ? strtoll(text, NULL, 10) == value->integer
         : value->kind == JV_TRUE    ? !strcmp(text, "true")
         : value->kind == JV_FALSE   ? !strcmp(text, "false")
         : value->kind == JV_LIST    ? *text == '[' && text[got->length - 1] == ']'
                                     : got->length > 0);
}

/* `table` NULL: it was refused. */
static void check_json(Arena *arena, const Source *source, const Table *table)
{
    Diagnostics unseen;
    diag_init(&unseen, arena);
    const Lines *lines = lines_parse(&unseen, arena, source, 0);
    int64_t n = lines ? lines->n : 0;
    while (n && !lines->at[n - 1].length) /* empty lines at the end are passed */
        n--;
    bool is_good = n > 0;
    need(!table || table->n == n);
    for (int64_t i = 0; i < n; i++) {
        const char *problem;
        const JsonValue *value = json_read(arena, lines->at[i].text, lines->at[i].length, &problem);
        for (int k = 0; k < N_FIELDS; k++) {
            is_good = is_good && is_usable(json_member(value, names[k]));
            if (value && table)
                check_value(arena, json_member(value, names[k]), &table->columns[k]->at[i]);
        }
    }
    need(table || !is_good);
}

static void try_table(const uint8_t *bytes, size_t size, TableFormat format, uint8_t how)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const LineLimits limits = {.line = how & SHORT_LINES ? 20 : 0};
    const Source *source = diag_source(arena, "fuzz", (const char *)bytes, size);
    const Table *table = table_parse(&diags, arena, source, format,
                                     how & BY_NUMBER ? numbers : names, N_FIELDS, &limits);
    need(table ? !diags.list.count && table->n > 0 : diags.errors > 0 && diags.errors <= 20);
    need_budget(arena, BUDGET_TEXT, size);
    for (int k = 0; table && k < N_FIELDS; k++)
        check_column(table, table->columns[k], format);
    if (table)
        check_again(&diags, arena, table);
    if (format == TABLE_JSON && !(how & (BY_NUMBER | SHORT_LINES)))
        check_json(arena, source, table);
    Text said = {0};
    diag_render(&diags, &said);
    text_free(&said);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!size)
        return 0;
    try_table(bytes + 1, size - 1, (TableFormat)((bytes[0] & FORMAT) % N_FORMATS), bytes[0]);
    return 0;
}
