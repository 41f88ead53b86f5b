/* tfc init: a folder with what a project begins with. Its model and README.md come from templates in
 * models/kinds, its data/ from the user's texts: cut into three parts, without the lines that a
 * training would refuse. */
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

/* ProjectKindInfo: a row of kinds.def; the name as the user writes it ("language-model"). */
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

/* ProjectParts: lines of each part of the data, and those left out: what training refuses (bytes that
 * are not UTF-8, lines without a tab or over the limit), and pairs with an empty side. */
typedef struct ProjectParts {
    int64_t train, valid, test, left_out;
    int64_t shared; /* pairs whose target a pair of another source has that validates or tests: left out of training, … */
    bool kept;      /* … or kept in it, where they are too many */
    int64_t labels; /* different ones, of LABELS */
} ProjectParts;

typedef struct ProjectOptions {
    const char *folder;
    ProjectKind kind;
    SurveyOptions data; /* `train` is the text; without validation texts */
    double minutes;     /* of the training that README.md tells */
    int processors;
} ProjectOptions;

typedef struct Project {
    ProjectParts parts;
    const ProjectSize *size;
    const char *commands; /* what README.md tells to run, lines */
} Project;

const ProjectKindInfo *project_kind(ProjectKind kind);
/* By name; PROJECT_KINDS: there is none. */
ProjectKind project_kind_find(const char *name);
const ProjectSize *project_size(ProjectKind kind, int64_t words, int processors);

/* Whether the folder can be made: it is not there, or empty. */
bool project_check_folder(Job *job, const char *folder);
/* Makes the folder, whole or not at all; `survey` is that of the data. False after errors. */
bool project_create(Job *job, const ProjectOptions *options, const Survey *survey, Project *project);

/* What became of the pairs to train on whose target is also validated or tested on: a sentence. */
const char *project_shared(Arena *arena, const ProjectParts *parts);
/* Writes FOLDER/data. (project_data.c) */
bool project_cut_data(Job *job, const ProjectOptions *options, const Survey *survey, const char *folder,
                      ProjectParts *parts);

#endif
