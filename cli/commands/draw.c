/* tfc draw: what a model is before it has learnt, as pictures. */
#include "base/file.h"
#include "cli/commands/commands.h"
#include "cli/options/endings.h"
#include "driver/analysis/picture.h"
#include "driver/train/training.h"
#include "inspect/picture_svg.h"
#include "runtime/train/schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { POSITIONS = 64, TOKENS = 12 };

typedef struct Draw {
    Common common;
    const char *what, *output, *weights;
    int64_t source_length, target_length, steps;
} Draw;

static PictureMap *maps_of(Job *job, const PictureTables *tables)
{
    PictureMap *maps = ARENA_ARRAY(job->arena, PictureMap, tables->count + 1);
    for (size_t i = 0; i < tables->count; i++) {
        const PictureTable *t = &tables->data[i];
        const char *title = *t->name ? t->name : "model";
        if (t->made_by)
            title = arena_printf(job->arena, "%s (%s)", title, t->made_by);
        else if (t->alike > 1)
            title = arena_printf(job->arena, "%s × %" PRId64, title, t->alike);
        maps[i] = (PictureMap){title, t->rows, t->columns, t->values};
    }
    return maps;
}

static const char *title_of(Job *job, const Draw *o, const char *path)
{
    return arena_printf(job->arena, "%s of %s", o->what, file_name(path));
}

static bool draw_tables(Job *job, const Draw *o, const ModelArgument *model, const char *path,
                        Text *out)
{
    bool positions = !strcmp(o->what, "positions");
    int64_t usual = positions ? POSITIONS : TOKENS;
    const char *weights = o->weights;
    if (model->run && !weights && !(weights = run_checkpoint(job, model->run, NULL)))
        return false;
    PictureOptions options = {.model = model->options,
                              .weights = weights,
                              .source_length = o->source_length ? o->source_length : usual,
                              .target_length = o->target_length ? o->target_length : usual};
    PictureTables tables;
    if (!(positions ? picture_positions : picture_masks)(job, &options, &tables))
        return false;
    (positions ? picture_put_positions : picture_put_masks)(
        title_of(job, o, path), maps_of(job, &tables), tables.count, out);
    return true;
}

/* At most so many steps, at equal distances, are drawn. */
static bool draw_schedule(Job *job, const Draw *o, const ModelArgument *model, Text *out)
{
    enum { UNKNOWN_WARMUPS = 10, UNKNOWN_STEPS = 10000 };
    Session session;
    if (!session_open(&session, job, &model->options))
        return false;
    const TrainSpec *spec = &session.model->train;
    int64_t steps = o->steps               ? o->steps
                    : spec->rate_steps > 0 ? spec->rate_steps
                    : spec->steps > 0      ? spec->steps
                    : spec->warmup > 0     ? UNKNOWN_WARMUPS * spec->warmup
                                           : UNKNOWN_STEPS;
    RateSettings rate = training_rate(spec, steps);
    double *rates = ARENA_ARRAY(job->arena, double, steps + 1);
    for (int64_t i = 0; i < steps; i++)
        rates[i] = schedule_rate(&rate, i + 1);
    picture_put_schedule("Learning rate", rates, (size_t)steps, rate.warmup, out);
    session_close(&session);
    return true;
}

static bool draw_graph(Job *job, const ModelArgument *model, Text *out)
{
    Session session;
    if (!session_open(&session, job, &model->options))
        return false;
    picture_put_model(session.model->module, job->arena, out);
    session_close(&session);
    return true;
}

static bool draw_any(Job *job, const Draw *o, const ModelArgument *model, const char *path,
                     Text *out)
{
    if (!strcmp(o->what, "graph"))
        return draw_graph(job, model, out);
    return !strcmp(o->what, "schedule") ? draw_schedule(job, o, model, out)
                                        : draw_tables(job, o, model, path, out);
}

static int run_draw(Job *job, void *record, const Arguments *arguments)
{
    const Draw *o = record;
    if (!o->what)
        return cli_usage_error(
            "--what is missing: positions, masks, schedule or graph, such as tfc draw %s --what graph -o "
            "graph.svg",
            arguments->words[0]);
    if (!o->output)
        return cli_usage_error("-o FILE.svg is missing: the picture to write");
    if (!ending_kind(job, "draw", o->output, NULL, NULL))
        return EXIT_USAGE;
    const char *path = arguments->words[0];
    ModelArgument model;
    Text out = {0};
    bool ok = common_model(job, &o->common, path, &model) && draw_any(job, o, &model, path, &out) &&
              cli_write(job, o->output, &out);
    text_free(&out);
    return cli_finish(job, ok);
}

static const Option options[] = {
    {"what", "positions|masks|schedule|graph", FIELD(Draw, what), 0, NULL,
     "draw vectors of positions, masks of attentions, the learning rate, or the model's blocks"},
    {"output", "FILE.svg", OUTPUT(Draw, output), 0, NULL, "file of the picture"},
    {"source-length", "N", FIELD(Draw, source_length), 1, NULL,
     "tokens of the source (of positions 64, of masks 12)"},
    {"target-length", "N", FIELD(Draw, target_length), 1, NULL,
     "tokens of the target (of positions 64, of masks 12)"},
    {"steps", "N", FIELD(Draw, steps), 1, NULL,
     "steps of the schedule (the train block's, else ten warm-ups, else 10,000)"},
    {"weights", "FILE", FIELD(Draw, weights), 0, NULL,
     "params for positions and masks (a run's: those that tfc info names; a model's initial values)"},
    OPTION_SET(Draw),
    OPTION_ALLOW_OUTSIDE(Draw),
};

const Command command_draw = {
    .name = "draw",
    .summary = "draw a model: its blocks, positions, masks or learning rate",
    .arguments = "MODEL.tfg|RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .text = "Draws, as SVG, a model's blocks with shapes and params, or its learning rate; or, by "
            "running the model on made-up tokens, its vectors of positions, or the masks of its "
            "attentions: where the weight of some head is not 0.",
    COMMAND_OPTIONS(Draw, options),
    .run = run_draw,
};
