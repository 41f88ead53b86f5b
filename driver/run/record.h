/* RunRecord: run.json, what a training records about itself, for the commands that use the run and
 * for resuming it.
 *
 *   tfc, model, kind   version, the model's file as it was given, what a batch is made of
 *   settings           consts: ["d_model=256", …], `vocab` always among them
 *   tokens             rules of the vocabulary: ["begin=<pad>", …] (runtime/data/token_rules.h)
 *   generation         settings of generation that hold where no option says, such as
 *                      "temperature=0.6" (generation.h)
 *   command            the command as it was typed
 *   arguments          the options that --resume repeats, files by absolute paths
 *   processor          the name of the machine's processor, for people to read
 *   decides            name → value: all that the result depends on, without the texts
 *   data               the texts: option, file, bytes, lines, sha256
 *   files              name → checksum of the files beside run.json that never change: model,
 *                      libraries, vocabularies
 *   quantised          of a run of tfc quantize: a word of base/quants.def
 *   keep               of such a run: patterns of the params whose products and lookups are f32
 *   unused             of an imported run: tensors of the weights that no param took
 *
 * Strings live in the arena of the job that read them, or are the writer's. */
#ifndef DRIVER_RUN_RECORD_H
#define DRIVER_RUN_RECORD_H

#include "driver/session/session.h"
#include "runtime/data/prepared.h"

typedef struct RunFact {
    const char *name, *value;
} RunFact;

typedef VEC(RunFact) RunFacts;

typedef PreparedText RunText;

typedef struct RunRecord {
    const char *version, *model, *processor, *quantised; /* NULL: not quantised */
    CorpusKind kind;
    TextList settings, tokens, generation, command, arguments, keep;
    RunFacts facts, files; /* facts: `decides` */
    VEC(RunText) texts;    /* `data` */
    bool is_import;        /* made by tfc import: unused is known */
    bool knows_generation; /* by one that reads settings of generation */
    TextList unused;
} RunRecord;

/* Whether the folder has a run.json. */
bool is_run_folder(const char *path);
/* Its path; in the job's arena. */
const char *run_record_file(Job *job, const char *folder);
/* Reads run.json. A field that an earlier version did not write is empty or NULL. False after
 * errors: there is no run.json, it is damaged, or tfc did not write it. A folder may be a
 * stranger's: settings have the form NAME=VALUE, numbers of `data` are bounded so that sums do not
 * overflow; `arguments` are checked where they are repeated (cli/options/options.h). */
bool run_record_read(Job *job, const char *folder, RunRecord *record);
/* The value of that name in `decides`; NULL: there is none. */
const char *run_record_fact(const RunRecord *record, const char *name);
/* The same of a whole number from 0 to `most`: *number, which stays where there is none. False
 * after an error that names the file in `folder`: the value is no such number. */
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

/* "pairs", "stream", … */
const char *corpus_kind_name(CorpusKind kind);

#endif
