/* The thresholds of predicted sets of labels: those inside, or of the file that a model was opened
 * with. */
#include "runtime/model/state.h"

#include "runtime/data/label_thresholds.h"

#include <stdlib.h>

static int64_t count_thresholds(const TfcPredictions *predictions)
{
    int64_t n = 0;
    for (int64_t i = 0; predictions && i < predictions->n; i++)
        n += predictions->sets[i].thresholds ? predictions->sets[i].n : 0;
    return n;
}

const TfcLabelSet *model_label_sets(const TfcLoaded *loaded)
{
    return loaded->sets ? loaded->sets : loaded->model->predictions->sets;
}

/* Classes without a label are in no set, whatever the weights. */
static void begin_thresholds(const TfcLabelSet *inside, float *to)
{
    for (int64_t k = 0; k < inside->n; k++)
        to[k] = inside->thresholds[k] > 1 ? THRESHOLD_OF_NONE : (float)SETS_THRESHOLD;
}

bool model_own_label_sets(TfcLoaded *loaded)
{
    const TfcPredictions *predictions = loaded->model->predictions;
    const int64_t n = count_thresholds(predictions);
    if (!n)
        return true;
    loaded->sets = calloc((size_t)predictions->n, sizeof *loaded->sets);
    float *next = loaded->thresholds = calloc((size_t)n, sizeof *next);
    if (!loaded->sets || !next)
        return false;
    for (int64_t i = 0; i < predictions->n; i++) {
        loaded->sets[i] = predictions->sets[i];
        if (!predictions->sets[i].thresholds)
            continue;
        begin_thresholds(&predictions->sets[i], next);
        loaded->sets[i].thresholds = next;
        next += predictions->sets[i].n;
    }
    return true;
}

bool model_read_label_sets(TfcLoaded *loaded, const char *path, Diagnostics *diags)
{
    if (!loaded->sets)
        return true;
    StFile *file = st_open(diags, diags->arena, path);
    bool ok = file != NULL;
    float *next = loaded->thresholds;
    for (int64_t i = 0; ok && i < loaded->model->predictions->n; i++) {
        const TfcLabelSet *set = &loaded->sets[i];
        if (!set->thresholds)
            continue;
        ok = label_thresholds_take(diags, path, st_meta(file, ST_THRESHOLDS),
                                   loaded->model->predictions->all[i].name, next, set->n);
        next += set->n;
    }
    if (file)
        st_close(file);
    return ok;
}

const char *model_thresholds_text(const TfcLoaded *loaded, Arena *arena)
{
    const TfcPredictions *predictions = loaded->model->predictions;
    const int64_t n = predictions ? predictions->n : 0;
    LabelThresholds *all = ARENA_ARRAY(arena, LabelThresholds, n + 1);
    if (!all)
        return NULL;
    for (int64_t i = 0; i < n; i++) {
        const TfcLabelSet *set = &model_label_sets(loaded)[i];
        all[i] = (LabelThresholds){predictions->all[i].name, set->thresholds, set->n};
    }
    return label_thresholds_text(arena, all, n);
}
