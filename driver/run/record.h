/* RunRecord: run.json, what a training records about itself, for the commands that use the run and
 * for resuming it.
 *
 * Its members are the rows of run_fields (record.c).
 *
 * Strings live in the arena of the job that read them, or are the writer's. */
#ifndef DRIVER_RUN_RECORD_H
#define DRIVER_RUN_RECORD_H

#include "driver/session/session.h"
#include "runtime/data/prepared.h"

typedef JsonPair RunFact;

typedef VEC(RunFact) RunFacts;

typedef PreparedText RunText;

typedef struct RunRecord {
    const char *version, *commit, *model, *processor, *quantised; /* NULL: not quantised */
    const char *training; /* TrainState.config of its checkpoints, as they have it; NULL: unknown */
    CorpusKind kind;
    TextList settings, tokens, generation, command, arguments, keep;
    TextList processors;   /* that took part, with what code was for */
    int64_t changed;       /* step after which it last went on with changes; 0: never */
    RunFacts facts, files; /* facts: `decides` */
    RunFacts libraries;    /* name → version */
    VEC(RunText) texts;    /* `data` */
    bool is_import;        /* made by tfc import: unused is known */
    bool knows_generation; /* by one that reads settings of generation */
    TextList unused;
} RunRecord;

/* RunRecords: the records that a job has read, by folder, so that a command opens a run.json once.
 * Lives in the job's arena (Job.records); a job without it reads each time. */
typedef struct RunRecords RunRecords;
RunRecords *run_records_new(Arena *arena);

/* Whether the folder has a run.json. */
bool is_run_folder(const char *path);
/* Its path; in the job's arena. */
const char *run_record_file(Job *job, const char *folder);
/* Reads run.json, or gives what the job has read of it. A field that an earlier version did not
 * write is empty or NULL. False after errors: there is no run.json, it is damaged, or tfc did not
 * write it. A folder may be a stranger's: settings have the form NAME=VALUE, numbers of `data` are
 * bounded so that sums do not overflow; `arguments` are checked where they are repeated
 * (cli/options/options.h). */
bool run_record_read(Job *job, const char *folder, RunRecord *record);
/* Adds the error that says why the path is not the folder of a run; returns false. */
bool run_record_refuse(Job *job, const char *path);
/* The value of that name in `decides`; NULL: there is none. */
const char *run_record_fact(const RunRecord *record, const char *name);
/* The version of a library of that name; NULL: there is none. */
const char *run_record_library(const RunRecord *record, const char *name);
/* The value of the fact "bits" where they are those of all processors. */
#define COMMON_BITS "common"
/* The processor that writes the record, with what code is for; and adding one to those that took
 * part, unless it is among them. */
const char *run_record_processor(Arena *arena, const RunRecord *record);
void run_record_add_processor(Arena *arena, RunRecord *record, const char *processor);
/* run_record_fact of a whole number from 0 to `most`: *number, which stays where there is none.
 * False after an error that names the file in `folder`: the value is no such number. */
bool run_record_number(Job *job, const char *folder, const RunRecord *record, const char *name,
                       int64_t most, int64_t *number);
/* The files beside run.json. run_record_add_file adds one to the record; run_record_has_changed
 * says whether its bytes are no longer those recorded (false if it is not in the record);
 * run_record_check_files checks that all are there: false after an error. A record of an earlier
 * version lists no files. */
void run_record_add_file(Job *job, RunRecord *record, const char *name, const void *bytes,
                         size_t size);
bool run_record_has_changed(Job *job, const RunRecord *record, const char *name, const void *bytes,
                            size_t size);
bool run_record_check_files(Job *job, const char *folder, const RunRecord *record);
bool run_record_write(Job *job, const char *folder, const RunRecord *record); /* false: an error */

/* All of `settings`, then all of `more`; of settings with the same name only the last. */
TextList merge_settings(Arena *arena, const TextList *settings, const TextList *more);

#endif
