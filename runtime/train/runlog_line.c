/* The members of a line of log.jsonl. */
#include "runtime/train/runlog_line.h"

#define ROW(key, type, member, use, ...) \
    JSON_FIELD(TrainReport, key, type, member, use, __VA_ARGS__)
#define REPORT(name, rows) const JsonRecord name = JSON_RECORD_OF(TrainReport, rows)
/* clang-format off */
static const JsonField place[] = {
    ROW("step",           INTEGER, step,           WRITTEN),
    ROW("epoch",          INTEGER, epoch,          WRITTEN),
};
REPORT(runlog_place, place);

static const JsonField mean[] = {
    ROW(RUNLOG_AVERAGED,  INTEGER, averaged,       WRITTEN),
    ROW("averaged_first", INTEGER, averaged_first, WRITTEN),
};
REPORT(runlog_mean, mean);

static const JsonField step[] = {
    ROW("loss",               NUMBER,  loss,               WRITTEN),
    ROW("rate",               NUMBER,  rate,               WRITTEN),
    ROW("gradient_norm",      NUMBER,  gradient_norm,      WRITTEN),
    ROW("tokens_per_second",  NUMBER,  tokens_per_second,  WRITTEN),
    ROW("memory",             INTEGER, memory,             WRITTEN),
    ROW("waited_for_ranks",   NUMBER,  waited_for_ranks,   OPTIONAL),
    ROW("waited_for_network", NUMBER,  waited_for_network, OPTIONAL),
};
REPORT(runlog_step, step);

static const JsonField seconds[] = {ROW("seconds", NUMBER, seconds, WRITTEN)};
REPORT(runlog_time, seconds);

static const JsonField verdict[] = {
    ROW("best",    BOOL, best,    WRITTEN),
    ROW("best_by", TEXT, best_by, OPTIONAL), /* after the first versions */
};
REPORT(runlog_verdict, verdict);
/* clang-format on */

/* Figures of predictions are there where the model makes some. */
#define USE_NOTHING WRITTEN
#define USE_TRANSLATIONS WRITTEN
#define USE_PREDICTIONS OPTIONAL
#define FIGURE_FIELD(key, member, use) JSON_FIELD(TrainFigures, key, NUMBER, member, use)
static const JsonField figures[] = {
#define FIGURE(name, measure, higher, needs, ...) FIGURE_FIELD("valid_" #name, name, USE_##needs),
#include "runtime/train/figures.def"
#undef FIGURE
};
const JsonRecord runlog_figures = JSON_RECORD_OF(TrainFigures, figures);

static const JsonField text_figures[] = {
#define FIGURE(name, measure, higher, needs, ...) FIGURE_FIELD(#name, name, USE_##needs),
#include "runtime/train/figures.def"
#undef FIGURE
};
const JsonRecord runlog_text_figures = JSON_RECORD_OF(TrainFigures, text_figures);

static const JsonField continuation[] = {
    JSON_FIELD(TrainSample, "prompt", TEXT, prompt, NEEDED),
    JSON_FIELD(TrainSample, "text", TEXT, text, NEEDED),
};
const JsonRecord runlog_continuation = JSON_RECORD_OF(TrainSample, continuation);
