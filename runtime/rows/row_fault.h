/* RowFault: why a record, or a cell of one, cannot be read. */
#ifndef RUNTIME_ROWS_ROW_FAULT_H
#define RUNTIME_ROWS_ROW_FAULT_H

#include <stdbool.h>
#include <stddef.h>

/* RowFault: the reason, and the byte of the record or cell that it is about, from 0 (0, too, if it
 * is about the whole). An empty text: memory ran out. */
enum { ROW_FAULT_BYTES = 480 };
typedef struct RowFault {
    size_t at;
    char text[ROW_FAULT_BYTES];
} RowFault;

/* Both set the fault and return false. */
bool row_is_wrong(RowFault *fault, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool row_has_no_memory(RowFault *fault);

#endif
