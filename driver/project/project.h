/* tfc init: the folder of a new project. Its model and README.md come from templates in
 * models/kinds, its data/ from the user's texts or table: cut into training, validation and test,
 * without the lines that ProjectParts counts as left out. */
#ifndef DRIVER_PROJECT_PROJECT_H
#define DRIVER_PROJECT_PROJECT_H

#include "driver/corpus/survey/survey.h"

typedef enum ProjectKind {
#define KIND(name, ...) PROJECT_##name,
#include "driver/project/kinds.def"
#undef KIND
    PROJECT_KINDS
} ProjectKind;

typedef enum ProjectForm {
    PROJECT_PAIRS,
    PROJECT_TEXT,
    PROJECT_LABELS,
    PROJECT_TAGS,
    PROJECT_PARTNERS
} ProjectForm;

/* ProjectKindInfo: a row of kinds.def; `name` as the user writes it ("language-model"). */
typedef struct ProjectKindInfo {
    const char *name;
    ProjectForm form;
    const char *fields[2], *summary;
} ProjectKindInfo;

/* Whether the data is a table of both fields; else it is lines of text. */
static inline bool project_is_table(const ProjectKindInfo *kind) { return *kind->fields[0]; }

/* ProjectSize: a row of sizes.def. */
typedef struct ProjectSize {
    ProjectKind kind;
    int64_t words;
    int processors, layers, d_model, d_ff, heads;
    double p_drop;
    const char *vocab;
    int batch;
    double rate;
} ProjectSize;

/* ProjectParts: lines of each part of the data, and lines left out of all parts: those that
 * training refuses (not valid UTF-8, with a NUL, without a tab, or over the limit), and pairs with
 * an empty side. Of a table: rows with an empty field, and those of validation and test whose label
 * no other row has. */
typedef struct ProjectParts {
    int64_t train, valid, test, left_out;
    /* of PAIRS: training pairs whose target validation or test also has, with another source */
    int64_t shared;
    /* the shared pairs train, since they are too many to lose; false: they are in no part */
    bool kept;
    int64_t labels; /* how many different labels or tags, of LABELS and TAGS; else 0 */
} ProjectParts;

typedef struct ProjectOptions {
    const char *folder;
    ProjectKind kind;
    SurveyOptions
        data;       /* `train` is the text, of a table project_read_table's; no validation texts */
    double minutes; /* of training, in README.md's commands */
    int processors; /* of the machine */
} ProjectOptions;

typedef struct Project {
    ProjectParts parts;
    const ProjectSize *size;
    const char *commands; /* the first block of commands in README.md, a line each */
} Project;

const ProjectKindInfo *project_kind(ProjectKind kind);
/* The kind of that name; PROJECT_KINDS: there is none. */
ProjectKind project_kind_find(const char *name);
/* The row of sizes.def for a text and a machine. */
const ProjectSize *project_size(ProjectKind kind, int64_t words, int processors);

/* Checks that the folder does not exist or is empty. False after an error. */
bool project_check_folder(Job *job, const char *folder);
/* Makes the folder, complete or not at all. `survey`: of the data. False after errors. */
bool project_create(Job *job, const ProjectOptions *options, const Survey *survey,
                    Project *project);

/* Reads a table's two fields as pairs. `given`: "NAME=FIELD", where NAME is a field of the kind and
 * FIELD one of the table. Fields that are not given have the kind's names or, in TSV and CSV whose
 * first line has neither name, are the first two (unless the other is given by its name). *what
 * says which were read. False after errors. (project_table.c) */
bool project_read_table(Job *job, const ProjectKindInfo *kind, const TextList *given,
                        int64_t line_limit, SurveyText *text, const char **what);
/* A sentence about the training pairs whose target is also in validation or test
 * (ProjectParts.shared). */
const char *project_shared(Arena *arena, const ProjectKindInfo *kind, const ProjectParts *parts);
/* Writes the parts of the data into the existing `folder`. False after errors. (project_data.c) */
bool project_cut_data(Job *job, const ProjectOptions *options, const Survey *survey,
                      const char *folder, ProjectParts *parts);

#endif
