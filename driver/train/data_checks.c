/* Checks of a training's data beside its model. */
#include "driver/train/data_checks.h"

#include "driver/ports/ports.h"
#include "driver/run/evaluation.h"
#include "driver/run/prediction.h"
#include "ir/text.h"
#include "passes/derive.h"

#include <string.h>

/* ---- the model ---- */

void training_warn_of_future(Training *t)
{
    Diagnostics *diags = &t->job->diags, found;
    const bool ok = !ports_predict(&t->ports) || session_decodes(&t->session, NULL, NULL, &found);
    if (!ok)
        diag_add_warnings(diags, &found);
    if (!ok)
        diag_note(
            diags, (Loc){0},
            "the model may see the tokens that it is to predict: its loss would be too good, and tfc generate "
            "refuses it");
}

bool training_check_predictions(Training *t)
{
    Module *module = t->session.model->module;
    const Map reads = params_of_loss(module_function(module, "model"));
    if (!predicts(module))
        return true;
    const Function *function = derive_predict(module);
    if (!predictions_check(t->job, function))
        return false;
    FOR_OPS (op, &function->body)
        if (op->kind == OP_param && !map_has(&reads, op_string(op, ATTR_name))) {
            diag_error(
                &t->job->diags, op->loc,
                "a `predict` reads the param '%s', which the loss does not: it would stay as it "
                "begins; `as same NAME` shares the params of another call",
                op_string(op, ATTR_name));
            return false;
        }
    return true;
}

const char *training_prepared_inputs(Arena *arena, const Prepared *rows)
{
    const PreparedSide *sides[] = {&rows->source, &rows->target};
    const char *text = "";
    for (int i = 0; i < 2; i++)
        if (sides[i]->input)
            text = arena_printf(arena, "%s%s`%s`", text, *text ? ", " : "", sides[i]->input);
    for (size_t c = 0; c < rows->columns.count; c++)
        text =
            arena_printf(arena, "%s%s`%s`", text, *text ? ", " : "", rows->columns.data[c].input);
    return text;
}

static bool is_input(const PreparedSide *side, const char *input)
{
    return side->input && input ? !strcmp(side->input, input) : !side->input == !input;
}

bool training_check_prepared_inputs(const Training *t)
{
    Job *job = t->job;
    const TrainOptions *o = t->options;
    const ModelPorts *ports = &t->ports;
    const DataColumns *columns = &t->columns;
    const Prepared *rows = o->rows;
    if (!rows || (!ports->is_table && !prepared_is_table(rows)))
        return true;
    if (ports->is_table != prepared_is_table(rows))
        return job_error(job,
                         ports->is_table
                             ? "%s reads columns of a table, and %s was prepared from texts: tfc "
                               "prepare %s --data FILE prepares a table"
                             : "%s reads texts, and %s was prepared from a table for another model",
                         o->model, o->prepared, o->model);
    bool ok = is_input(&rows->source, ports->source) && is_input(&rows->target, ports->target) &&
              (int)rows->columns.count == columns->n;
    for (int c = 0; c < columns->n && ok; c++)
        ok = is_input(&rows->columns.data[c], columns->specs[c].input);
    return ok || job_error(job, "%s was prepared for a model with the inputs %s, and %s has others",
                           o->prepared, training_prepared_inputs(job->arena, rows), o->model);
}

bool training_check_prepared_columns(const Training *t)
{
    const Prepared *rows = t->options->rows;
    for (int c = 0; rows && c < t->columns.n; c++) {
        const ColumnSpec *spec = &t->columns.specs[c];
        const char *was = rows->columns.data[c].holds, *now = column_holds(t->job->arena, spec);
        if (strcmp(was, now))
            return job_error(t->job, "%s has of `%s` %s, and %s reads %s: prepare the table again",
                             t->options->prepared, spec->input, was, t->options->model, now);
    }
    return true;
}

/* ---- vocabulary and corpora ---- */

bool training_check_vocabulary(const Training *t)
{
    const Prepared *rows = t->options->rows;
    if (!rows)
        return true;
    const char *now = prepared_vocabulary(t->job->arena, t->vocab);
    return !strcmp(now, rows->vocabulary) ||
           job_error(t->job,
                     "the vocabulary is not the one that %s was prepared with: that had %s, and "
                     "this has %s; prepare the texts again",
                     t->options->prepared, rows->vocabulary, now);
}

bool training_check_length(const Training *t, int64_t length)
{
    int64_t said = t->session.model->train.max_length;
    PositionTable table = position_table(t->session.model->module, NULL);
    if (t->options->max_length <= 0 && said > length)
        length = said;
    return !table.length || length <= table.length ||
           job_error(t->job,
                     "max_length is %lld, but the model's table '%s' has %lld positions: "
                     "--max-length %lld is the most",
                     (long long)length, table.name, (long long)table.length,
                     (long long)table.length);
}

/* Adds the unknown tokens of prepared data to the counts, and tells of them. */
static void add_unknown(const Training *t, const Prepared *rows, SidesUnknown *sides)
{
    const SidesUnknown more = prepared_unknown(rows);
    sides->source.tokens += more.source.tokens;
    sides->source.unknown += more.source.unknown;
    sides->target.tokens += more.target.tokens;
    sides->target.unknown += more.target.unknown;
    prepared_tell_unknown(&t->job->diags, rows);
}

bool training_check_unknown(Training *t)
{
    const TrainOptions *o = t->options;
    SidesUnknown sides = {0};
    if (o->rows) {
        add_unknown(t, o->rows, &sides);
        for (size_t i = 0; i < o->mix.count; i++)
            if (t->parts[i].prepared)
                add_unknown(t, t->parts[i].prepared, &sides);
            else
                corpus_count_unknown(t->parts[i].rows, 0, &sides);
    } else {
        corpus_count_unknown(t->corpus, 0, &sides);
    }
    if (o->record || o->allow_unknown ||
        (!unknown_is_above(&sides.source, UNKNOWN_REFUSED) &&
         !unknown_is_above(&sides.target, UNKNOWN_REFUSED)))
        return true;
    return job_error(
        t->job,
        "more than %.0f %% of the tokens to train on are unknown to the vocabulary of %s: %s that is learned "
        "from these texts, or --allow-unknown trains all the same",
        100 * UNKNOWN_REFUSED, o->prepared ? o->prepared : o->vocab.spec,
        o->prepared ? "prepare them with one" : "give one (--vocab auto:8000, or words:auto)");
}

/* Row i of a corpus. */
typedef struct CheckedRow {
    const Module *module;
    const Corpus *corpus;
    const Feed *feed;
    int64_t i;
} CheckedRow;

/* The length in the row of dimension `symbol`, which text or columns feed or which is made of
 * others. */
static int64_t length_in_corpus(const void *of, int32_t symbol)
{
    const CheckedRow *row = of;
    const Symbol *s = &row->module->symbols.data[symbol];
    const int side = feed_side(row->feed, s->name);
    return s->formula.n ? dim_formula_length(&s->formula, length_in_corpus, row)
           : side < 0   ? 0
                        : corpus_side_length(row->corpus, row->i, side);
}

bool training_check_made(const Training *t, const Corpus *corpus, const Lines *lines)
{
    const bool is_stream = corpus->options.kind == CORPUS_STREAM;
    const Module *module = t->session.model->module;
    const Feed feed = feed_of(module, &t->ports);
    for (int symbol = 0; symbol < (int)module->symbols.count; symbol++) {
        const DimFormula *formula = &module->symbols.data[symbol].formula;
        for (int64_t i = 0; formula->n && i < corpus->n; i++) {
            if (length_in_corpus(&(CheckedRow){module, corpus, &feed, i}, symbol) <=
                MOST_DIM_LENGTH)
                continue;
            const Loc loc =
                is_stream || i >= corpus->own ? (Loc){0} : lines_place(lines, corpus->line[i]);
            diag_error(
                &t->job->diags, loc,
                "the dimension %s = %s of the model would be longer than 2^31 - 1 for this row",
                module->symbols.data[symbol].name, ir_formula_text(module, formula, t->job->arena));
            return false;
        }
    }
    return true;
}
