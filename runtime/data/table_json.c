/* Records of JSON lines (runtime/rows/record_json.h), as a table has them. */
#include "runtime/data/table_reader.h"
#include "runtime/rows/record_json.h"

/* Names the keys that the record, a good one, has instead. */
static void tell_missing(TableReader *r, int64_t number, const Line *field, Line *cells)
{
    const Line *line = &r->lines->at[number];
    RecordKeys keys = {0};
    RowFault fault;
    const RecordFields again = {r->head->fields, r->head->n_fields, r->scratch, &keys};
    record_read_json(&again, line, cells, &fault);
    table_fault(r, number, line->text, "the record has no field '%.*s'%s", (int)field->length,
                field->text, text_known(r->scratch, "'", field->text, keys.data, keys.count));
}

int64_t table_next_json(TableReader *r, Line *cells, size_t room)
{
    const int64_t number = r->line++;
    const RecordFields fields = {r->head->fields, room, r->arena, NULL};
    RowFault fault;
    if (!record_read_json(&fields, &r->lines->at[number], cells, &fault))
        return table_fault(r, number, r->lines->at[number].text + fault.at, "%s", fault.text);
    for (size_t k = 0; k < room; k++)
        if (!cells[k].text)
            return tell_missing(r, number, &r->head->fields[k], cells), TABLE_BAD;
    return (int64_t)room;
}
