/* Faults of records and cells. */
#include "runtime/rows/row_fault.h"

#include <stdarg.h>
#include <stdio.h>

bool row_is_wrong(RowFault *fault, size_t at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(fault->text, sizeof fault->text, format, args);
    va_end(args);
    fault->at = at;
    return false;
}

bool row_has_no_memory(RowFault *fault)
{
    *fault = (RowFault){0};
    return false;
}
