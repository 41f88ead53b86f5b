/* The best checkpoint of a run: the figures of a validation, and the one measure among them by
 * which all validations of a run are compared. Figures of two measures are never compared. */
#ifndef RUNTIME_TRAIN_BEST_H
#define RUNTIME_TRAIN_BEST_H

#include "base/arena.h"
#include "runtime/train/checkpoint.h"

/* TrainFigures: the figures of figures.def; NAN: not computed. */
typedef struct TrainFigures {
#define FIGURE(name, ...) double name;
#include "runtime/train/figures.def"
#undef FIGURE
} TrainFigures;
TrainFigures train_no_figures(void); /* all NAN */

/* FigureNeeds: what a validation has to compute for a figure beside the loss. */
typedef enum FigureNeeds { NEEDS_NOTHING, NEEDS_TRANSLATIONS, NEEDS_PREDICTIONS } FigureNeeds;

/* TrainMeasure: a row of figures.def.
 *   field   the member of log.jsonl
 *   at      the offset in TrainFigures */
typedef struct TrainMeasure {
    const char *name, *field, *title, *unit;
    size_t at;
    double scale;
    int decimals;
    bool higher;
    FigureNeeds needs;
} TrainMeasure;

enum {
#define FIGURE(name, ...) MEASURE_##name,
#include "runtime/train/figures.def"
#undef FIGURE
    TRAIN_MEASURES
};
extern const TrainMeasure train_measures[TRAIN_MEASURES];

/* The measure of that name, as --best takes it; NULL: there is none. */
const TrainMeasure *train_measure_find(const char *name);
double train_measure_figure(const TrainMeasure *measure, const TrainFigures *figures);
/* "the lowest loss", "the highest BLEU". In the arena. */
const char *train_measure_best(const TrainMeasure *measure, Arena *arena);
/* A figure as people read it: "0.3052", "12.5 %". In the arena. */
const char *train_measure_text(const TrainMeasure *measure, Arena *arena, double figure);

/* The word of --best for the mean of all validation texts. */
#define TRAIN_MEAN "mean"

/* TrainBest: the figure by which the validations of a run are compared.
 *   measure   NULL: the loss
 *   text      the validation text that is measured: a text's name, TRAIN_MEAN, or NULL, the text
 *             without a name
 *   by        both as --best takes them, "MEASURE" or "TEXT:MEASURE", as run.json and log.jsonl
 *             have them; NULL: the loss */
typedef struct TrainBest {
    const TrainMeasure *measure;
    const char *text, *by;
    uint64_t texts; /* a hash of the texts */
} TrainBest;

/* "MEASURE" or "TEXT:MEASURE", in the arena. */
const char *train_best_text(Arena *arena, const char *text, const TrainMeasure *measure);
/* TrainState.judge for this figure: a hash of the measure and the text's name. */
uint64_t train_best_hash(const TrainBest *best);
/* The figure by which validations are compared; NAN: there is none. */
double train_best_of(const TrainBest *best, const TrainFigures *figures);
/* The measure by which validations are compared. */
const TrainMeasure *train_best_measure(const TrainBest *best);
/* Before the first validation: sets the state to no best. */
void train_judge_begin(const TrainBest *best, TrainState *state);
/* Whether a validation is better than the best so far. Between equal figures the lower loss is
 * better; a figure that is not finite never is. Updates the state: the best, its step, and the
 * number of validations since then that have the figure. */
bool train_judge(const TrainBest *best, const TrainFigures *figures, int64_t step,
                 TrainState *state);
/* What a mean's validation says beside the best checkpoint's: "its BLEU of 36.78 is no better than
 * the best checkpoint's 39.26". In the arena; its `by` is not NULL. */
const char *train_average_text(const CheckpointAverage *average, Arena *arena);
/* The figure of the best validation so far. (TrainState.best is negated where higher is better.) */
double train_best_figure(const TrainBest *best, const TrainState *state);

#endif
