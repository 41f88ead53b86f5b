/* The published files of a run as the run is now: its consts may have other values than the files
 * that import kept, its texts other tokens around them, and its vocabulary may be another. There is
 * one comparison, which all writers of published models share: the files are read as import reads
 * them, and the model and the rules that come of it are compared with the run's. A value that
 * differs is put where import reads it from; then all is compared again. */
#ifndef DRIVER_EXCHANGE_REVISE_H
#define DRIVER_EXCHANGE_REVISE_H

#include "driver/run/model_argument.h"
#include "driver/run/new_folder.h"

/* ReviseOptions: what is exported.
 *   model    a run; else an error says that its model has no published files
 *   format   of tfc export, for messages
 *   out      the file or folder that will be written; a temporary is made beside it
 *   merges   adapters are merged into the params, so that the run's function has more in it than
 *            what is written: of the model's text, consts alone are compared */
typedef struct ReviseOptions {
    const ModelArgument *model;
    const char *format, *out;
    bool merges;
} ReviseOptions;
/* Revised: the folder of the files, those that the run keeps or a temporary one. */
typedef struct Revised {
    const char *folder, *kept; /* kept: that of the run */
    NewFolder temporary;
} Revised;

/* A remark names what is written otherwise than it was published. Values that training alone uses
 * are not compared. False after errors: the run has no published files, these cannot be read, or
 * the run computes by something that they have no place for; the message names it. Call revise_end
 * in any case: in messages that name a file of the temporary folder it puts the run's own. */
bool revise_published(Job *job, const ReviseOptions *options, Revised *revised);
void revise_end(Job *job, Revised *revised);

#endif
