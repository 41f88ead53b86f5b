/* The progress line. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/machine.h"
#include "base/printing.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "runtime/decode/score.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { N_BUFFERS = 4, BUFFER_SIZE = 32 };
/* Between two pictures on a terminal, and between two lines elsewhere. */
static const double REDRAW_SECONDS = 0.2, LINE_SECONDS = 10;

/* Keeps the text until the fourth further call, and frees it. */
static const char *keep_text(Text *text)
{
    static char buffers[N_BUFFERS][BUFFER_SIZE];
    static int turn;
    char *buffer = buffers[turn++ % N_BUFFERS];
    snprintf(buffer, BUFFER_SIZE, "%s", text->data);
    text_free(text);
    return buffer;
}

const char *bytes_text(int64_t bytes)
{
    Text text = {0};
    text_bytes(&text, bytes);
    return keep_text(&text);
}

const char *duration_text(double seconds)
{
    Text text = {0};
    text_duration(&text, seconds);
    return keep_text(&text);
}

void progress_init(Progress *progress, int64_t steps, bool words, const TrainMeasure *measure)
{
    bool by_errors =
        measure && measure->needs == NEEDS_TRANSLATIONS && measure != &train_measures[MEASURE_bleu];
    *progress = (Progress){.terminal = isatty(STDERR_FILENO),
                           .counts_errors = words || by_errors,
                           .measure = measure ? measure->title : NULL,
                           .steps = steps};
    progress->next = progress->terminal ? 0 : clock_seconds() + LINE_SECONDS;
}

void progress_clear(Progress *progress)
{
    if (progress->drawn)
        printing_status("");
    progress->drawn = false;
}

/* Of what was translated; `blanks` stand before each figure. */
static void put_answers(const Progress *progress, const TrainFigures *figures, const char *blanks,
                        Text *out)
{
    if (isfinite(figures->bleu))
        text_add(out, "%sBLEU %.2f", blanks, figures->bleu);
    if (progress->counts_errors && isfinite(figures->symbol_error_rate))
        text_add(out, "%swrong %.1f %% of lines, %.1f %% of symbols", blanks,
                 100 * figures->line_error_rate, 100 * figures->symbol_error_rate);
}

/* Of what was predicted. */
static void put_predictions(const TrainFigures *figures, const char *blanks, Text *out)
{
    for (int i = 0; i < TRAIN_MEASURES; i++) {
        const TrainMeasure *measure = &train_measures[i];
        const double figure = train_measure_figure(measure, figures);
        if (measure->needs == NEEDS_PREDICTIONS && isfinite(figure))
            text_add(out, "%s%s %.*f%s", blanks, measure->title, measure->decimals,
                     measure->scale * figure, measure->unit);
    }
}

/* A validation text that has a name. */
static void put_valid(const Progress *progress, const TrainValid *valid, Text *out)
{
    if (!valid->name)
        return;
    text_string(out, "  ");
    text_visible(out, valid->name, strlen(valid->name));
    text_add(out, " %.4f", valid->figures.loss);
    put_answers(progress, &valid->figures, " ", out);
    put_predictions(&valid->figures, " ", out);
}

/* The figures of a step, in the order of a line. */
typedef enum StepFigure { STEP, EPOCH, LOSS, RATE, SPEED, WAITS, MEMORY, TIME, LEFT } StepFigure;

static void put_figure(const Progress *progress, const TrainReport *report, StepFigure figure,
                       Text *out)
{
    switch (figure) {
    case STEP:
        text_add(out, "step %" PRId64, report->step);
        if (progress->steps)
            text_add(out, "/%" PRId64, progress->steps);
        break;
    case EPOCH: text_add(out, "  epoch %" PRId64, report->epoch); break;
    case LOSS:
        if (isfinite(report->loss))
            text_add(out, "  loss %.4f", report->loss);
        break;
    case RATE: text_add(out, "  rate %.3g", report->rate); break;
    case SPEED:
        if (isfinite(report->tokens_per_second))
            text_add(out, "  %.0f tokens/s", report->tokens_per_second);
        break;
    case WAITS:
        if (isfinite(report->waited_for_ranks))
            text_add(out, "  waits %.0f %% for ranks, %.0f %% for the network",
                     100 * report->waited_for_ranks, 100 * report->waited_for_network);
        break;
    case MEMORY: text_add(out, "  %s", bytes_text(resident_bytes())); break;
    case TIME: text_add(out, "  %s", duration_text(report->seconds)); break;
    case LEFT:
        if (isfinite(report->seconds_left))
            text_add(out, "  %s left", duration_text(report->seconds_left));
    }
}

/* Puts the line of a step, of at most `width` bytes: without the first of `spare` if it does not
 * fit, without the first two …; what is still too long is cut. */
static void put_step(const Progress *progress, const TrainReport *report, size_t width, Text *out)
{
    static const StepFigure spare[] = {WAITS, EPOCH, MEMORY, RATE, TIME, SPEED, LOSS};
    enum { SPARE = sizeof spare / sizeof spare[0] };
    bool left_out[LEFT + 1] = {false};
    for (int n = 0;; left_out[spare[n++]] = true) {
        text_free(out);
        for (StepFigure figure = STEP; figure <= LEFT; figure++)
            if (!left_out[figure])
                put_figure(progress, report, figure, out);
        if (out->length <= width)
            return;
        if (n == SPARE)
            break;
    }
    out->data[out->length = utf8_start(out->data, width)] = '\0';
}

static void format_report(const Progress *progress, const TrainReport *report, Text *out)
{
    if (report->averaged)
        text_add(out, "average of %" PRId64 " checkpoint%s, steps %" PRId64 " to %" PRId64,
                 report->averaged, text_plural(report->averaged, "", "s"), report->averaged_first,
                 report->step);
    else
        put_step(progress, report, SIZE_MAX, out);
    if (report->validated) {
        const TrainFigures *figures = &report->figures;
        text_add(out, "  valid loss %.4f", figures->loss);
        if (score_losses_differ(figures->model_loss, figures->loss))
            text_add(out, " (the model's own %.4f)", figures->model_loss);
        put_answers(progress, &report->figures, "  ", out);
        put_predictions(&report->figures, "  ", out);
        if (report->best)
            text_add(out, "  best so far by %s", progress->measure);
        for (int i = 0; i < report->n_valid; i++)
            put_valid(progress, &report->valid[i], out);
    }
}

void progress_report(Progress *progress, const TrainReport *report, bool due)
{
    double time = clock_seconds();
    if (!due && time < progress->next)
        return;
    bool is_line = due || !progress->terminal;
    Text line = {0};
    if (is_line) {
        format_report(progress, report, &line);
        progress_clear(progress);
        fprintf(stderr, "%s\n", line.data);
    } else {
        put_step(progress, report, cli_columns(STDERR_FILENO) - 1, &line);
        printing_status(line.data);
    }
    text_free(&line);
    progress->drawn = !is_line;
    progress->next = time + (progress->terminal ? REDRAW_SECONDS : LINE_SECONDS);
    fflush(stderr);
}
