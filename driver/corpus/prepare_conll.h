/* CoNLL's columns in tfc prepare: a file is cut where a line is empty. */
#ifndef DRIVER_CORPUS_PREPARE_CONLL_H
#define DRIVER_CORPUS_PREPARE_CONLL_H

#include "driver/corpus/prepare_parts.h"

/* Cuts the part, which has one file, and counts its records. `hash`: room for the file's SHA-256,
 * which the part's text gets with its bytes unless they are known. May be called by several threads
 * at once, each with its own part. */
void prepare_scan_conll(const PrepareOptions *options, TextPart *part, char *hash);

#endif
