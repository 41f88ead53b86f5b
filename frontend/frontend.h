/* From .tfg text to an op graph and the settings around it. */
#ifndef FRONTEND_FRONTEND_H
#define FRONTEND_FRONTEND_H

#include "base/file.h"
#include "base/training.h"
#include "ir/graph.h"

/* The train { … } block. Defaults: optimizer and rate of "Attention Is All You Need", and the
 * initial values of training_settings.def. */
typedef struct TrainSpec {
    Optimizer optimizer;
    double beta1, beta2, eps, momentum, weight_decay;
    Loc optimizer_place; /* of the setting `optimizer`, else of the train block; {0}: no block */
    Schedule schedule;
    /* noam: factor × d_model^-0.5 × min(step^-0.5, step × warmup^-1.5) */
    double rate_d_model, rate_factor;
    double rate_peak, rate_final; /* of the other schedules */
    int64_t warmup, rate_steps;   /* rate_steps: the step of rate_final; 0: the run's last */
    double clip_norm;             /* 0: none */
#define TRAIN_SETTING(name, ...) int64_t name;
#include "base/training_settings.def"
} TrainSpec;

/* WeightAxis: an axis of a foreign tensor, and the number `ours` of the same axis in our param.
 * Elements [their_begin, their_begin + size) of theirs are [begin, begin + size) of ours. */
typedef struct WeightAxis {
    int ours;
    int64_t begin, size, their_begin;
    bool is_slice;  /* their axis may be longer; else it has `size` elements */
    bool stretches; /* their axis may be missing, or have one element, which holds for all */
} WeightAxis;

/* WeightPart: a part of one of our params, and the tensor of a foreign checkpoint from which the
 * part is made. ours = scale * theirs, or, if it multiplies, ours *= scale * theirs. */
typedef struct WeightPart {
    const char **theirs; /* the tensor's names: an import reads the first that exists, an export
                          * writes the first */
    int n_theirs, rank;
    WeightAxis axes[MAX_RANK]; /* in the order of the foreign tensor's axes */
    double scale;
    bool multiplies;  /* an earlier part has set these elements */
    bool is_optional; /* where no tensor has any of the names, the param's initial value, a number,
                       * stays */
} WeightPart;

/* WeightMap: the parts of which one of our params is made. Together they cover the param. */
typedef struct WeightMap {
    const char *ours;
    WeightPart *parts;
    int n_parts;
    Loc loc;
} WeightMap;

/* The suffixes of inputs that the runtime makes from data: `next(tgt)` is the input "tgt.next",
 * `hidden(text)` is "text.hidden". */
#define NEXT_SUFFIX ".next"
#define HIDDEN_SUFFIX ".hidden"

/* ModelConst: a const and its value, as .tfg and JSON write it: 4, true, "linear". */
typedef struct ModelConst {
    const char *name, *value;
} ModelConst;

typedef struct Model {
    Module *module; /* has the function "model"; passes add those derived from it */
    const char *path;
    const char *library; /* folder of the standard library; NULL: there is none */
    FileReach reach;     /* of the files that it names (FrontendOptions) */
    TrainSpec train;
    bool has_train, has_loss;
    VEC(WeightMap) weights;
    VEC(ModelConst) consts;    /* in the order of reading, without those that others replace */
    VEC(const Source *) files; /* the .tfg and everything it uses, in order of reading */
    VEC(const char *) places;  /* of each file, where the folder of a run keeps it (place.h) */
} Model;

typedef struct Setting {
    const char *name, *value; /* --set NAME=VALUE */
} Setting;

typedef struct FrontendOptions {
    const Setting *settings;
    int n_settings;
    int n_sizes; /* how many of the settings, the last ones, are sizes of vocabularies, not --set */
    const char *library; /* folder of models/lib; NULL: TFC_LIBRARY, else beside the program */
    FileReach
        reach; /* of the files that the model names: of a model in a run's folder, that; of the
                      * user's own, anywhere. The files of a library lie anywhere, too, unless it is
                      * the run's */
    bool is_trained;  /* the text is a run's copy: no warnings of unused constants and blocks */
    bool merges;      /* the model's outputs are its `merge`s alone, named as their params */
    DType float_type; /* DT_F32; DT_F64 for checks */

    /* further outputs: dotted names of what blocks compute, such as
     * "encoder.layer.0.self.weights", with * for any one part */
    const char *const *outputs;
    int n_outputs;
} FrontendOptions;

/* The model, in the arena; NULL after errors. options may be NULL. */
Model *model_load(Arena *arena, Diagnostics *diags, const char *path,
                  const FrontendOptions *options);
Model *model_parse(Arena *arena, Diagnostics *diags, const Source *source,
                   const FrontendOptions *options);

/* Whether `file`, one of the model's files, is in the standard library. */
bool model_is_library_file(const Model *model, const Source *file);
/* The path within the folder of a run that keeps `file`, one of the model's files (place.h). */
const char *model_file_place(const Model *model, const Source *file);

/* Largest file of a model, in bytes. */
enum { MODEL_MAX_BYTES = 1 << 20 };

/* The folder of the standard library, which options (NULL: none) may name; NULL: there is none. */
const char *frontend_library(Arena *arena, const FrontendOptions *options);

/* For tfc dump --stage tokens and ast. The AST has what each `use` brought in, but not the prelude
 * and not what was overridden. False after errors. */
bool frontend_dump_tokens(const Source *source, Text *out, Diagnostics *diags);
bool frontend_dump_ast(Arena *arena, const Source *source, const FrontendOptions *options,
                       Text *out, Diagnostics *diags);

#endif
