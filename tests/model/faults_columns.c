/* The calls of libraries that predict, and of one that generates texts from columns. */
#include "faults_calls.h"

static double sum_of_labels(const predicting_labels *labels)
{
    double sum = 0;
    for (int64_t i = 0; i < labels->n; i++)
        sum += labels->classes[i];
    return sum;
}

/* The same search, with a lexicon, of two texts. */
int call_predict_texts(World *w)
{
#define FIVE(x) x x x x x
    static const char lexicon[] = "a\na b a\nb\n" FIVE(FIVE(FIVE("a b "))); /* a tree that grows */
    const char *const texts[] = {"ab cab", "ab"};
    const predicting_label_search search = {
        .beam = 4, .nbest = 2, .lexicon = lexicon, .lexicon_length = sizeof lexicon - 1};
    const predicting_predicted *list;
    int64_t n, cut[2];
    int status = predicting_set_label_search(w->reading, &search);
    if (!status)
        status = predicting_predict_texts(w->reading, 2, texts, NULL, &list, &n, cut);
    w->result = 0;
    for (int64_t i = 0; !status && i < 2 * n; i++) {
        w->result += list[i].values[0];
        for (int64_t k = 0; k < list[i].n_results; k++)
            w->result += sum_of_labels(&list[i].results[k]);
    }
    return status;
}

/* Classes of each token, CTC's path, whole numbers. */
int call_predict_text(World *w)
{
    static const char text[] = "ab cab";
    const predicting_predicted *list;
    int64_t n, cut;
    int status = predicting_predict_text(w->reading, text, sizeof text - 1, &list, &n, &cut);
    w->result = 0;
    for (int64_t i = 0; i < n; i++) {
        predicting_prediction_info info;
        world_need(predicting_prediction(w->predictor, i, &info), "prediction");
        w->result += world_sum(list[i].values, list[i].positions * info.width);
        for (int64_t k = 0; k < list[i].n_results; k++)
            w->result += sum_of_labels(&list[i].results[k]);
    }
    return status;
}

static const float image[] = {0.5f, 1, 0, 1, 1, 0};
static const float frames[] = {1, 2, 3, 4};
static const int32_t frame_lengths[] = {1, 1, 2};

/* Texts of records, one of which has no source. */
int call_describe(World *w)
{
    const char *const said[] = {"ab", "", "cab"}, *const kinds[] = {"odd", "even", "even"};
    const describing_records records = {.B = 3,
                                        .F_lengths = frame_lengths,
                                        .image = image,
                                        .src = said,
                                        .kind = kinds,
                                        .frames = frames};
    const describing_translation *list;
    int64_t n;
    int status = describing_translations(w->telling, NULL, &records, &list, &n);
    w->result = 0;
    for (int64_t i = 0; i < n; i++)
        w->result += list[i].result.score + (double)list[i].length;
    return status;
}

/* The columns as tensors, of the first `n` rows. */
static describing_encode_in rows_of(int64_t n)
{
    static const int32_t ids[] = {5, 6, 3, 5, 3, 7, 5, 3}, ends[] = {3, 2, 3}, kinds[] = {0, 1, 1};
    return (describing_encode_in){.B = n,
                                  .F_lengths = frame_lengths,
                                  .S_lengths = ends,
                                  .image = image,
                                  .src = ids,
                                  .kind = kinds,
                                  .frames = frames};
}

int call_describe_rows(World *w)
{
    const describing_encode_in in = rows_of(3);
    describing_result results[3];
    int status = describing_generate(w->telling, NULL, &in, results);
    w->result = 0;
    for (int i = 0; !status && i < 3; i++)
        w->result += results[i].score;
    return status;
}

int call_begin_describing(World *w)
{
    const describing_encode_in in = rows_of(1);
    return describing_encode(w->telling, &in, 2);
}
