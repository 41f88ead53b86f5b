/* A survey of a table as text and as JSON. */
#ifndef CLI_REPORT_RECORDS_PRINT_H
#define CLI_REPORT_RECORDS_PRINT_H

#include "driver/corpus/survey/records.h"

void records_print(const RecordSurvey *survey, Text *out);
/* Writes every label, and every kind of finding, found or not. */
void records_print_json(const RecordSurvey *survey, Text *out);

#endif
