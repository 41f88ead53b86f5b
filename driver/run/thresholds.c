/* Thresholds as JSON in the metadata of checkpoints. */
#include "driver/run/thresholds.h"

#include "base/file.h"
#include "runtime/data/label_thresholds.h"
#include "runtime/data/safetensors.h"

const char *thresholds_text(Arena *arena, const Predictor *predictor)
{
    LabelThresholds *all = ARENA_ARRAY(arena, LabelThresholds, predictor->n + 1);
    for (int p = 0; p < predictor->n; p++) {
        const Prediction *one = &predictor->all[p];
        all[p] = (LabelThresholds){one->name, one->thresholds, one->n_classes};
    }
    return label_thresholds_text(arena, all, predictor->n);
}

const char *thresholds_in(Job *job, const char *checkpoint)
{
    Diagnostics unseen;
    diag_init(&unseen, job->arena);
    if (file_is_folder(checkpoint))
        checkpoint = file_in(job->arena, checkpoint, "model.safetensors");
    StFile *file = file_exists(checkpoint) ? st_open(&unseen, job->arena, checkpoint) : NULL;
    const char *text = file ? st_meta(file, ST_THRESHOLDS) : NULL;
    text = text ? arena_strdup(job->arena, text) : NULL;
    if (file)
        st_close(file);
    return text;
}

/* Takes those of a set from a checkpoint, if it has any. False after an error. */
static bool thresholds_read(Job *job, Prediction *prediction, const char *checkpoint)
{
    return label_thresholds_take(&job->diags, checkpoint,
                                 checkpoint ? thresholds_in(job, checkpoint) : NULL,
                                 prediction->name, prediction->thresholds, prediction->n_classes);
}

/* Classes without a label are in no set. */
static void leave_out_unused(Prediction *prediction)
{
    for (int64_t k = 0; prediction->thresholds && k < prediction->n_classes; k++)
        if (prediction->names && prediction->names[k] == class_unused)
            prediction->thresholds[k] = THRESHOLD_OF_NONE;
}

bool thresholds_mean(Job *job, Predictor *predictor, const char *const *checkpoints, int n)
{
    for (int p = 0; p < predictor->n; p++) {
        float *thresholds = predictor->all[p].thresholds;
        const int64_t labels = thresholds ? predictor->all[p].n_classes : 0;
        double *sums = ARENA_ARRAY(job->arena, double, labels + 1);
        for (int i = 0; i < n && labels; i++) {
            for (int64_t k = 0; k < labels; k++)
                thresholds[k] = (float)SETS_THRESHOLD;
            if (!thresholds_read(job, &predictor->all[p], checkpoints[i]))
                return false;
            for (int64_t k = 0; k < labels; k++)
                sums[k] += (double)thresholds[k] / n;
        }
        for (int64_t k = 0; k < labels; k++)
            thresholds[k] = (float)sums[k];
        leave_out_unused(&predictor->all[p]);
    }
    return true;
}

bool thresholds_of_run(Job *job, Predictor *predictor, const RunFolder *run)
{
    const char **checkpoints = ARENA_ARRAY(job->arena, const char *, run->n_with + 1);
    checkpoints[0] = run->checkpoint;
    for (int i = 0; i < run->n_with; i++)
        checkpoints[i + 1] = run->with[i].checkpoint;
    return thresholds_mean(job, predictor, checkpoints, run->n_with + 1);
}

bool thresholds_settle(Job *job, Predictor *predictor, const RunFolder *run, double given)
{
    bool any = false;
    if (given < 0)
        return thresholds_of_run(job, predictor, run);
    for (int p = 0; p < predictor->n; p++) {
        for (int64_t k = 0; predictor->all[p].thresholds && k < predictor->all[p].n_classes; k++) {
            predictor->all[p].thresholds[k] = (float)given;
            any = true;
        }
        leave_out_unused(&predictor->all[p]);
    }
    return any || job_error(job, "--threshold: the model predicts no sets of labels, as `predict "
                                 "NAME = many(logits)` does");
}
