/* CoNLL's columns in tfc prepare: a file is cut where a line is empty. */
#ifndef DRIVER_CORPUS_PREPARE_CONLL_H
#define DRIVER_CORPUS_PREPARE_CONLL_H

#include "base/record_cutter.h"
#include "driver/corpus/prepare_parts.h"

/* Cuts the part, whose one file the cutter reads, and counts its records. What cannot be read is a
 * problem of the cutter's source. May be called by several threads at once, each with its own
 * part. */
void prepare_cut_conll(const PrepareOptions *options, TextPart *part, RecordCutter *cutter);

#endif
