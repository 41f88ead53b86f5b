/* Choosing the best checkpoint by one measure. */
#include "runtime/train/best.h"

#include "base/map.h"

#include <math.h>
#include <string.h>

const TrainMeasure train_measures[TRAIN_MEASURES] = {
#define FIGURE(of, measure, is_higher, what, times, digits, of_unit, as_noun, help) \
    {.name = measure,                                                               \
     .field = "valid_" #of,                                                         \
     .title = as_noun,                                                              \
     .unit = of_unit,                                                               \
     .at = offsetof(TrainFigures, of),                                              \
     .scale = times,                                                                \
     .decimals = digits,                                                            \
     .higher = is_higher,                                                           \
     .needs = NEEDS_##what},
#include "runtime/train/figures.def"
#undef FIGURE
};

TrainFigures train_no_figures(void)
{
#define FIGURE(name, ...) .name = NAN,
    return (TrainFigures){
#include "runtime/train/figures.def"
    };
#undef FIGURE
}

const TrainMeasure *train_measure_find(const char *name)
{
    for (int i = 0; name && i < TRAIN_MEASURES; i++)
        if (!strcmp(train_measures[i].name, name))
            return &train_measures[i];
    return NULL;
}

double train_measure_figure(const TrainMeasure *measure, const TrainFigures *figures)
{
    double figure;
    memcpy(&figure, (const char *)figures + measure->at, sizeof figure);
    return figure;
}

const char *train_measure_best(const TrainMeasure *measure, Arena *arena)
{
    return arena_printf(arena, "the %s %s", measure->higher ? "highest" : "lowest", measure->title);
}

const char *train_measure_text(const TrainMeasure *measure, Arena *arena, double figure)
{
    return arena_printf(arena, "%.*f%s", measure->decimals, measure->scale * figure, measure->unit);
}

/* ---- judging ---- */

const char *train_best_text(Arena *arena, const char *text, const TrainMeasure *measure)
{
    return text ? arena_printf(arena, "%s:%s", text, measure->name) : measure->name;
}

const TrainMeasure *train_best_measure(const TrainBest *best)
{
    return best->measure ? best->measure : &train_measures[MEASURE_loss];
}

uint64_t train_best_hash(const TrainBest *best)
{
    return hash_string(HASH_SEED, best->by ? best->by : train_best_measure(best)->name);
}

static void set_judge(const TrainBest *best, TrainState *state)
{
    state->judge = train_best_hash(best);
    state->judge_texts = best->texts;
}

void train_judge_begin(const TrainBest *best, TrainState *state)
{
    state->best_step = state->bad = 0;
    set_judge(best, state);
}

double train_best_of(const TrainBest *best, const TrainFigures *figures)
{
    return train_measure_figure(train_best_measure(best), figures);
}

/* The state has figures as lower is better. */
static double sign_of(const TrainBest *best) { return train_best_measure(best)->higher ? -1 : 1; }

double train_best_figure(const TrainBest *best, const TrainState *state)
{
    return sign_of(best) * state->best;
}

const char *train_average_text(const CheckpointAverage *average, Arena *arena)
{
    const char *colon = strrchr(average->by, ':');
    const TrainMeasure *measure = train_measure_find(colon ? colon + 1 : average->by);
    if (!measure)
        measure = &train_measures[MEASURE_loss];
    const char *own = train_measure_text(measure, arena, average->figure);
    if (!isfinite(average->figure))
        return arena_printf(arena, "the average's %s is not finite", measure->title);
    if (!isfinite(average->best))
        return arena_printf(arena, "the average's %s is %s, and no checkpoint has one",
                            measure->title, own);
    return arena_printf(arena, "the average's %s of %s is %s the best checkpoint's %s",
                        measure->title, own, average->better ? "better than" : "no better than",
                        train_measure_text(measure, arena, average->best));
}

bool train_judge(const TrainBest *best, const TrainFigures *figures, int64_t step,
                 TrainState *state)
{
    double figure = sign_of(best) * train_best_of(best, figures);
    bool better = isfinite(figure) && (!state->best_step || figure < state->best ||
                                       (figure == state->best && figures->loss < state->best_loss));
    set_judge(best, state);
    state->bad += !isnan(figure);
    if (better) {
        state->best = figure;
        state->best_loss = figures->loss;
        state->best_step = step;
        state->bad = 0;
    }
    return better;
}
