/* tfc init: the folder of a new project. Its model and README.md come from templates in
 * models/kinds, its data/ from the user's texts: cut into training, validation and test, without
 * the lines that ProjectParts counts as left out. */
#ifndef DRIVER_PROJECT_PROJECT_H
#define DRIVER_PROJECT_PROJECT_H

#include "driver/corpus/survey/survey.h"

typedef enum ProjectKind {
#define KIND(name, form, summary) PROJECT_##name,
#include "driver/project/kinds.def"
#undef KIND
    PROJECT_KINDS
} ProjectKind;

typedef enum ProjectForm { PROJECT_PAIRS, PROJECT_TEXT, PROJECT_LABELS } ProjectForm;

/* ProjectKindInfo: a row of kinds.def; `name` as the user writes it ("language-model"). */
typedef struct ProjectKindInfo {
    const char *name, *summary;
    ProjectForm form;
} ProjectKindInfo;

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
 * an empty side. */
typedef struct ProjectParts {
    int64_t train, valid, test, left_out;
    /* of PAIRS: training pairs whose target validation or test also has, with another source */
    int64_t shared;
    /* the shared pairs train, since they are too many to lose; false: they are in no part */
    bool kept;
    int64_t labels; /* how many different labels, of LABELS; else 0 */
} ProjectParts;

typedef struct ProjectOptions {
    const char *folder;
    ProjectKind kind;
    SurveyOptions data; /* `train` is the text; without validation texts */
    double minutes;     /* of training, in README.md's commands */
    int processors;     /* of the machine */
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

/* A sentence about the training pairs whose target is also in validation or test
 * (ProjectParts.shared). */
const char *project_shared(Arena *arena, const ProjectParts *parts);
/* Writes the parts of the data into the existing `folder`. False after errors. (project_data.c) */
bool project_cut_data(Job *job, const ProjectOptions *options, const Survey *survey,
                      const char *folder, ProjectParts *parts);

#endif
