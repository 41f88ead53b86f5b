/* What an earlier tfc did not read of a published folder. */
#ifndef DRIVER_EXCHANGE_IMPORT_AGAIN_H
#define DRIVER_EXCHANGE_IMPORT_AGAIN_H

#include "driver/job.h"

/* Of a run that a tfc imported which knew no settings of generation: compares what it has with what
 * import would read of the same files now, and adds a remark if that is something else. A file in
 * RUN/published keeps that this was done, so that only the first use says it; where it cannot be
 * written each use does. Does nothing for any other path. */
void import_tell_again(Job *job, const char *run);

#endif
