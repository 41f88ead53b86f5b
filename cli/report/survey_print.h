/* A survey as text and as JSON. */
#ifndef CLI_REPORT_SURVEY_PRINT_H
#define CLI_REPORT_SURVEY_PRINT_H

#include "driver/corpus/survey/survey.h"

void survey_print(const Survey *survey, Text *out);
/* Writes every kind of finding, found or not. */
void survey_print_json(const Survey *survey, Text *out);

#endif
