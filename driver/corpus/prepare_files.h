/* The files of texts that tfc prepare reads: regular ones, and temporary ones beside the shards,
 * made of translation memories and of compressed files, since shards are cut and read at any
 * place. */
#ifndef DRIVER_CORPUS_PREPARE_FILES_H
#define DRIVER_CORPUS_PREPARE_FILES_H

#include "driver/corpus/prepare_parts.h"

/* Opens a regular file for reading; -1: *error says why not, ESPIPE: it is no regular file. */
int prepare_file_open(const char *path, int *error);
/* Make part->read of file k (of a translation memory, the only one) a temporary file, which
 * prepare_texts_free removes, and set bytes and SHA-256 of the part's text to those of the file
 * that was given. False after an error.
 *   from_memory   the pairs of a translation memory
 *   from_table    two fields of a table, as lines of pairs; bytes and SHA-256 are those of the
 *                 pairs, which depend on the fields that are read
 *   unpack        the text of a compressed file; no other file is changed, and none that cannot be
 *                 opened, which scanning reports */
bool prepare_file_from_memory(Job *job, const PrepareOptions *options, TextPart *part);
bool prepare_file_from_table(Job *job, const PrepareOptions *options, TextPart *part,
                             const PairFields *fields);
bool prepare_file_unpack(Job *job, const PrepareOptions *options, TextPart *part, int k);

#endif
