/* The texts of tfc prepare, in parts: their files, and how they are cut into shards. */
#ifndef DRIVER_CORPUS_PREPARE_PARTS_H
#define DRIVER_CORPUS_PREPARE_PARTS_H

#include "base/record_cutter.h"
#include "driver/corpus/prepare.h"

/* TextCut: the lines of a shard: where they begin, and how many; of a table its records. */
typedef struct TextCut {
    int64_t line, lines; /* the first line, from 0; how many lines or records */
    int64_t at[2];       /* bytes before them, of each file */
    int64_t bytes;       /* of them, of all files */
} TextCut;

typedef struct TablePart TablePart; /* prepare_tables.h */

/* The message for a file whose lines or records changed after they were counted. */
#define TEXT_CHANGED \
    "it changed while tfc read it: prepare it again when no other program writes to it"

/* TextPart: one text: n files, 1 or 2; two have the same number of lines.
 *   name   as the user wrote them
 *   read   the files that are read; where is_made, a temporary file beside the shards: what a
 *          translation memory or a compressed file holds
 *   table  the file is one of a table; NULL: it has lines
 *   left_out   of CoNLL's columns: lines that are in no record
 *   closed     a list of JSON has its end */
typedef struct TextPart {
    int n;
    bool has_columns; /* its lines are pairs with a tab between them */
    bool is_made[2];
    const char *name[2], *read[2];
    const TablePart *table;
    PreparedText text[2]; /* complete after prepare_texts; `lines` of a table are its records */
    TextCut *cuts;        /* malloc'd */
    int64_t n_cuts, room; /* room: private */
    int64_t left_out;
    bool closed;
    const char *problem; /* a file that could not be read; NULL: none */
    int error;           /* why, an errno; ESPIPE: it is not a regular file */
} TextPart;

/* Appends a cut. */
void text_part_add_cut(TextPart *part, const TextCut *cut);

typedef struct TextParts {
    TextPart *data;
    int n;
} TextParts;

/* ---- prepare_conll.c ---- */

/* CoNLL's columns in tfc prepare: a file is cut where a line is empty. */

/* Cuts the part, whose one file the cutter reads, and counts its records. What cannot be read is a
 * problem of the cutter's source. May be called by several threads at once, each with its own
 * part. */
void prepare_cut_conll(const PrepareOptions *options, TextPart *part, RecordCutter *cutter);

/* ---- prepare_files.c ---- */

/* The files of texts that tfc prepare reads: regular ones, and temporary ones beside the shards,
 * made of translation memories and of compressed files, since shards are cut and read at any
 * place. */

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
