/* Optimizers and schedules of the learning rate, by number and by word. */
#ifndef BASE_TRAINING_H
#define BASE_TRAINING_H

typedef enum Optimizer {
#define OPTIMIZER(NAME, word) OPTIMIZER_##NAME,
#include "base/training.def"
    OPTIMIZER_COUNT
} Optimizer;

typedef enum Schedule {
#define SCHEDULE(NAME, word) RATE_##NAME,
#include "base/training.def"
    RATE_COUNT
} Schedule;

static inline const char *const *optimizer_words(void)
{
    static const char *const words[] = {
#define OPTIMIZER(NAME, word) #word,
#include "base/training.def"
    };
    return words;
}

static inline const char *const *schedule_words(void)
{
    static const char *const words[] = {
#define SCHEDULE(NAME, word) #word,
#include "base/training.def"
    };
    return words;
}

#endif
