/* What the columns of a model's data hold, and which sides they lie along. */
#include "driver/ports/columns.h"

#include "driver/ports/token_ids.h"
#include "frontend/frontend.h"
#include "ir/text.h"

#include <inttypes.h>
#include <string.h>

static const Type *input_type(const Op *input) { return &op_result((Op *)input)->type; }

static const char *dim_name(const Module *module, const Op *input, int axis)
{
    const Type *type = input ? input_type(input) : NULL;
    int symbol = type && axis < type->rank ? type->dims[axis].symbol : NO_SYMBOL;
    return symbol == NO_SYMBOL ? NULL : module->symbols.data[symbol].name;
}

static bool has_side(const Module *module, const Op *input)
{
    const Type *type = input_type(input);
    return type->rank > 1 && symbol_is_ragged(module, type->dims[1].symbol);
}

static int n_columns(const ModelPorts *ports)
{
    return ports->n_columns < MOST_COLUMNS ? ports->n_columns : MOST_COLUMNS;
}

/* The input that gets what was hidden of a column; NULL: the model has none. */
static const char *hidden_of(const Module *module, const Op *input)
{
    const char *name = op_string(input, ATTR_name);
    const size_t n = strlen(name);
    FOR_OPS (op, &module_function(module, "model")->body) {
        const char *other = op->kind == OP_input ? op_string(op, ATTR_name) : "";
        if (!strncmp(other, name, n) && !strcmp(other + n, HIDDEN_SUFFIX))
            return other;
    }
    return NULL;
}

/* A side for each dimension that this one is made of, if it is, and then for itself. */
static void add_side(const Module *module, int symbol, Feed *feed, int *n)
{
    const Symbol *dim = &module->symbols.data[symbol];
    for (int i = 0; i < dim->formula.n; i++)
        if (symbol_is_made(module, dim->formula.terms[i].symbol))
            add_side(module, dim->formula.terms[i].symbol, feed, n);
    if (dim->batch != NO_SYMBOL && feed_side(feed, dim->name) < 0 && *n < MOST_SIDES)
        feed->dims[(*n)++] = dim->name;
}

/* Sides along which predictions lie whose dimensions are made of others. */
static void add_predicted_sides(const Module *module, Feed *feed, int *n)
{
    FOR_OPS (op, &module_function(module, "model")->body) {
        const Type *type = op->kind == OP_output ? &op->args[0]->type : NULL;
        if (type && op_attr(op, ATTR_predict) && type->rank > 1 &&
            symbol_is_made(module, type->dims[1].symbol))
            add_side(module, type->dims[1].symbol, feed, n);
    }
}

/* Whether a dimension joins others of records that are columns alone. */
static bool is_joined(const Module *module, const ModelPorts *ports, int symbol)
{
    return ports->is_table && !ports->source && !ports->target && symbol_is_made(module, symbol) &&
           module->symbols.data[symbol].formula.n > 1 &&
           module->symbols.data[symbol].batch != NO_SYMBOL;
}

static void add_joined_sides(const Module *module, const ModelPorts *ports, Feed *feed, int *n)
{
    for (size_t i = 0; i < module->symbols.count; i++)
        if (is_joined(module, ports, (int)i))
            add_side(module, (int)i, feed, n);
}

Feed feed_of(const Module *module, const ModelPorts *ports)
{
    const Op *source = ports->source ? ports_input(module, ports->source) : NULL,
             *target = ports->target ? ports_input(module, ports->target) : NULL,
             *first = target   ? target
                      : source ? source
                               : ports->columns[0];
    Feed feed = {.source = ports->source,
                 .target = ports->target,
                 .next = ports->next,
                 .further = ports->further,
                 .batch = dim_name(module, first, 0),
                 .dims = {[SIDE_SOURCE] = dim_name(module, source, 1),
                          [SIDE_TARGET] = dim_name(module, target, 1)},
                 .n_columns = n_columns(ports)};
    int n = source || target ? SIDE_TARGET + 1 : 0;
    for (int c = 0; c < feed.n_columns; c++) {
        const Op *input = ports->columns[c];
        feed.columns[c] = op_string(input, ATTR_name);
        feed.hidden[c] = hidden_of(module, input);
        if (has_side(module, input))
            add_side(module, input_type(input)->dims[1].symbol, &feed, &n);
    }
    add_predicted_sides(module, &feed, &n);
    add_joined_sides(module, ports, &feed, &n);
    return feed;
}

/* How sides are made of others. */
static SideFormula *formulas_of(Job *job, const Module *module, const ModelPorts *ports,
                                const Feed *feed)
{
    SideFormula *all = ARENA_ARRAY(job->arena, SideFormula, MOST_SIDES);
    for (int side = 0; side < MOST_SIDES; side++) {
        int symbol = feed->dims[side] ? module_symbol(module, feed->dims[side]) : NO_SYMBOL;
        if (!symbol_is_made(module, symbol))
            continue;
        DimFormula formula = module->symbols.data[symbol].formula;
        for (int i = 0; i < formula.n; i++)
            formula.terms[i].symbol =
                feed_side(feed, module->symbols.data[formula.terms[i].symbol].name);
        const int64_t rows = position_table(module, feed->dims[side]).length;
        all[side] = (SideFormula){feed->dims[side], formula,
                                  !is_joined(module, ports, symbol) ? 0
                                  : rows                            ? rows
                                                                    : MOST_DIM_LENGTH};
    }
    return all;
}

/* ---- types ---- */

/* Whether each row [B, …], or each position [B, S~, …], has a constant number of values. False
 * after an error. */
static bool check_type(Job *job, const Module *module, const Op *input, const Feed *feed)
{
    const Type *type = input_type(input);
    const char *name = op_string(input, ATTR_name), *dim = dim_name(module, input, 1),
               *batch = dim_name(module, input, 0);
    const int first = has_side(module, input) ? 2 : 1;
    bool ok = type->dtype == DT_I32 || type->dtype == DT_F32 || op_attr(input, ATTR_many);
    for (int axis = first; axis < type->rank; axis++)
        ok = ok && dim_is_const(type->dims[axis]);
    if (!ok || !batch || !feed->batch || strcmp(batch, feed->batch) != 0)
        diag_error(&job->diags, input->loc,
                   "no column can feed `%s` of type %s: it takes token, int or float, of [B, …] or "
                   "[B, S~, …] with B as its other inputs have and constants behind, or bool[B, n] "
                   "as `many = \"|\"` in its column says",
                   name, ir_type_text(module, type, job->arena));
    else if (first == 2 && feed_side(feed, dim) < 0)
        diag_error(&job->diags, input->loc, "the columns have more than %d ragged dimensions",
                   MOST_SIDES);
    else
        return true;
    return false;
}

static int64_t width_of_row(const Module *module, const Op *input)
{
    const Type *type = input_type(input);
    int64_t width = 1;
    for (int axis = has_side(module, input) ? 2 : 1; axis < type->rank; axis++)
        width *= type->dims[axis].size;
    return width;
}

/* What the vocabulary is made by that a text has of its own; NULL: it has none. */
static const char *own_spec_of(const char *words)
{
    static const char own[] = "own:";
    return words && !strncmp(words, own, sizeof own - 1) ? words + sizeof own - 1 : NULL;
}

static ColumnKind kind_of(const Module *module, const Op *input, const char *words)
{
    const Function *model = module_function(module, "model");
    if (input_type(input)->dtype == DT_F32)
        return COLUMN_FLOATS;
    if (!words)
        return COLUMN_INTEGERS;
    bool is_text = own_spec_of(words) ? true
                   : !strcmp(words, "auto")
                       ? has_side(module, input) && token_is_looked_up(model, input)
                       : !strcmp(words, "shared");
    return is_text ? COLUMN_TEXT : COLUMN_LABELS;
}

/* Whether source and target of a model of next tokens say nothing that is for columns alone. False
 * after an error. */
static bool check_sides(Job *job, const Module *module, const ModelPorts *ports)
{
    const char *const sides[] = {ports->source, ports->target};
    for (int side = 0; side < 2; side++) {
        const Op *input = sides[side] ? ports_input(module, sides[side]) : NULL;
        const char *words =
            input && op_attr(input, ATTR_vocab) ? op_string(input, ATTR_vocab) : NULL;
        const bool hides = input && op_attr(input, ATTR_hide);
        if (!hides && !own_spec_of(words))
            continue;
        diag_error(&job->diags, input->loc, "`%s` is the %s of a model of next tokens, %s",
                   sides[side], side ? "target" : "source",
                   hides ? "of which none can be hidden yet"
                         : "whose vocabularies are those of --source-vocab and --vocab");
        return false;
    }
    return true;
}

/* Whether what hides tokens is a text. False after an error. */
static bool check_hiding(Job *job, const ModelPorts *ports, const DataColumns *columns)
{
    for (int c = 0; c < columns->n; c++)
        if (columns->specs[c].hide.rate > 0 && columns->specs[c].kind != COLUMN_TEXT) {
            diag_error(&job->diags, ports->columns[c]->loc,
                       "`%s` hides tokens, so it is a text: `vocab %s = shared` says that it is",
                       columns->specs[c].input, columns->specs[c].input);
            return false;
        }
    return true;
}

/* Words are one a position; a label may also be one a row. False after an error. */
static bool check_words(Job *job, const Op *input, const ColumnSpec *spec)
{
    const bool is_text = spec->kind == COLUMN_TEXT;
    if (spec->many || (!is_text && spec->kind != COLUMN_LABELS) ||
        (spec->width == 1 && (spec->side >= 0 || !is_text)))
        return true;
    diag_error(&job->diags, input->loc, "`%s` takes %s: its type is token[B, S~]%s", spec->input,
               is_text ? "a text" : "labels", is_text ? "" : " or token[B]");
    return false;
}

static HideRule hide_rule_of(const Op *input)
{
    if (!op_attr(input, ATTR_hide))
        return (HideRule){0};
    return (HideRule){.rate = op_float(input, ATTR_hide),
                      .keep = op_float(input, ATTR_keep),
                      .random = op_float(input, ATTR_random),
                      .whole_words =
                          op_attr(input, ATTR_whole_words) && op_int(input, ATTR_whole_words)};
}

/* Of a column of sets of labels. */
static void set_label_set(const Op *input, ColumnSpec *spec)
{
    spec->many = *op_string(input, ATTR_many);
    spec->below = spec->width;
    if (op_attr(input, ATTR_counts))
        spec->counts = op_string(input, ATTR_counts);
}

/* How many labels or tokens of an input the model tells apart. */
static int64_t below_of(const Module *module, const Op *input)
{
    const Function *model = module_function(module, "model");
    const int64_t table = token_table(model, input), classes = token_labels(model, input);
    return op_attr(input, ATTR_many)                            ? width_of_row(module, input)
           : classes < INT64_MAX && (!table || classes < table) ? classes
                                                                : table;
}

/* Of a column of tokens, labels or other integers: which the model takes, and what they are. */
static void set_integers(const Module *module, const ModelPorts *ports, const Op *input,
                         bool has_own, ColumnSpec *spec)
{
    const Function *model = module_function(module, "model");
    const bool is_labels = spec->kind == COLUMN_LABELS;
    const int64_t table = token_table(model, input), classes = token_labels(model, input);
    spec->below = below_of(module, input);
    spec->is_source = spec->kind == COLUMN_TEXT && !has_own && ports->source &&
                      token_table_is_shared(model, input, ports_input(module, ports->source));
    spec->hide = hide_rule_of(input);
    if (spec->kind == COLUMN_INTEGERS)
        spec->ids = ports_ids(module, input);
    spec->is_ctc = token_is_ctc_label(model, input);
    spec->first = is_labels && spec->is_ctc;
    spec->by_words = is_labels && spec->side >= 0 && !spec->beside_target && !spec->is_ctc &&
                     !table && classes < INT64_MAX;
}

/* What the input's column is. *words: the list of its labels, *own: its own vocabulary, as the
 * model names them; not set: it has none. */
static ColumnSpec spec_of(const Module *module, const ModelPorts *ports, const Op *input,
                          const Feed *feed, const char **words, const char **own)
{
    const char *vocab = op_attr(input, ATTR_vocab) ? op_string(input, ATTR_vocab) : NULL;
    ColumnSpec spec = {.input = op_string(input, ATTR_name),
                       .field = ports_field(input),
                       .kind = kind_of(module, input, vocab),
                       .side = has_side(module, input) ? feed_side(feed, dim_name(module, input, 1))
                                                       : -1,
                       .width = width_of_row(module, input)};
    spec.beside_target =
        spec.kind != COLUMN_TEXT && spec.side == SIDE_TARGET && ports->target && ports->next;
    spec.missing = ports_missing(module, input);
    if (spec.kind == COLUMN_FLOATS)
        return spec;
    if (op_attr(input, ATTR_many)) {
        set_label_set(input, &spec);
        *words = vocab;
        return spec;
    }
    *own = own_spec_of(vocab);
    set_integers(module, ports, input, *own != NULL, &spec);
    if (spec.kind == COLUMN_LABELS)
        *words = strcmp(vocab, "auto") ? vocab : "words";
    return spec;
}

/* Whether the side is the other, or made of it. */
static bool follows_side(const DataColumns *columns, int side, int of)
{
    bool follows = side == of;
    for (int i = 0; side >= 0 && i < columns->formulas[side].formula.n; i++)
        follows |= follows_side(columns, columns->formulas[side].formula.terms[i].symbol, of);
    return follows;
}

/* Texts along a side have special tokens unless labels or numbers lie along it, or along one that
 * is made of it. */
static void frame_texts(const Module *module, const ModelPorts *ports, DataColumns *columns)
{
    const Function *model = module_function(module, "model");
    for (int c = 0; c < columns->n; c++) {
        ColumnSpec *spec = &columns->specs[c];
        spec->is_framed = spec->kind == COLUMN_TEXT && spec->side >= 0 &&
                          token_is_looked_up(model, ports->columns[c]);
    }
    for (int c = 0; c < columns->n; c++)
        for (int other = 0; other < columns->n; other++) {
            ColumnSpec *spec = &columns->specs[c], *beside = &columns->specs[other];
            if (spec->side >= 0 && beside->kind != COLUMN_TEXT &&
                follows_side(columns, beside->side, spec->side))
                spec->is_framed = false;
        }
}

bool columns_of(Job *job, const Module *module, const ModelPorts *ports, DataColumns *out)
{
    const Feed feed = feed_of(module, ports);
    *out = (DataColumns){ARENA_ARRAY(job->arena, ColumnSpec, MOST_COLUMNS),
                         ARENA_ARRAY(job->arena, const char *, MOST_COLUMNS),
                         ARENA_ARRAY(job->arena, const char *, MOST_COLUMNS),
                         formulas_of(job, module, ports, &feed), n_columns(ports)};
    bool ok = true;
    for (int c = 0; c < out->n; c++) {
        ok = check_type(job, module, ports->columns[c], &feed) && ok;
        if (ok)
            out->specs[c] =
                spec_of(module, ports, ports->columns[c], &feed, &out->words[c], &out->own[c]);
        ok = ok && check_words(job, ports->columns[c], &out->specs[c]);
    }
    ok = ok && check_sides(job, module, ports) && check_hiding(job, ports, out);
    if (ok)
        frame_texts(module, ports, out);
    return ok;
}

/* ---- sizes ---- */

static bool check_mask(Job *job, const ColumnSpec *spec, const Vocabulary *vocab)
{
    return spec->hide.rate <= 0 || vocab_rules(vocab)->mask >= 0 ||
           job_error(job,
                     "`%s` hides tokens, and the vocabulary has no " MASK_TOKEN
                     " to stand for them: --token mask=TOKEN names another of its tokens, or "
                     "--vocab auto:8000 makes one that has it",
                     spec->input);
}

/* The only text along a side, if nothing but labels of words can lie along it besides; else
 * NULL. */
static ColumnSpec *labelled_text(const DataColumns *columns, int side)
{
    ColumnSpec *text = NULL;
    int n_texts = 0, n_labels = 0, n = 0;
    for (int c = 0; c < columns->n; c++) {
        ColumnSpec *spec = &columns->specs[c];
        if (spec->side != side)
            continue;
        n++;
        n_labels += column_none(spec);
        if (spec->kind == COLUMN_TEXT && !n_texts++)
            text = spec;
    }
    return n_texts == 1 && n_labels && n_labels + 1 == n && text->hide.rate <= 0 ? text : NULL;
}

static void settle_words(const DataColumns *columns, const Vocabulary *run)
{
    for (int c = 0; c < columns->n; c++) {
        ColumnSpec *labels = &columns->specs[c],
                   *text = column_none(labels) ? labelled_text(columns, labels->side) : NULL;
        const Vocabulary *vocab = text ? column_vocab(text, run) : NULL;
        labels->by_words = vocab && !vocab_is_words(vocab) && !vocab_is_characters(vocab);
        if (labels->by_words) {
            text->by_words = true;
            text->is_framed = vocab_rules(vocab)->source_begin >= 0;
        }
    }
}

/* Whether the model with one const as `size` and the others as they are tells so many apart. */
static bool const_sets_classes(Arena *arena, const Model *model, size_t which, const char *input,
                               int64_t size)
{
    Diagnostics unseen;
    Setting *settings = ARENA_ARRAY(arena, Setting, model->consts.count + 1);
    diag_init(&unseen, arena);
    for (size_t i = 0; i < model->consts.count; i++)
        settings[i] = (Setting){model->consts.data[i].name, model->consts.data[i].value};
    settings[which].value = arena_printf(arena, "%" PRId64, size);
    const FrontendOptions options = {.settings = settings,
                                     .n_settings = (int)model->consts.count,
                                     .library = model->library,
                                     .reach = model->reach,
                                     .float_type = DT_F32,
                                     .is_trained = true};
    const Model *other = model_load(arena, &unseen, model->path, &options);
    const Op *same = other ? ports_input(other->module, input) : NULL;
    return same && below_of(other->module, same) == size;
}

/* What to do for so many classes in place of `below`: "--set classes=3". */
static const char *classes_setting(Arena *arena, const Model *model, const ColumnSpec *spec,
                                   int64_t size)
{
    const char *was = arena_printf(arena, "%" PRId64, spec->below);
    for (size_t i = 0; i < model->consts.count; i++)
        if (!strcmp(model->consts.data[i].value, was) &&
            const_sets_classes(arena, model, i, spec->input, size))
            return arena_printf(arena, "--set %s=%" PRId64, model->consts.data[i].name, size);
    return "no constant alone sets that number: change it in the model";
}

bool columns_take_vocabulary(Job *job, const Model *model, const DataColumns *columns,
                             const Vocabulary *vocab)
{
    bool ok = true;
    settle_words(columns, vocab);
    for (int c = 0; c < columns->n; c++) {
        const ColumnSpec *spec = &columns->specs[c];
        ok = ok && check_mask(job, spec, column_vocab(spec, vocab));
        const int64_t size = spec->kind == COLUMN_TEXT ? vocab_size(column_vocab(spec, vocab))
                             : spec->labels            ? (int64_t)spec->labels->words.count
                                                       : 0;
        if (!spec->below || size + spec->first <= spec->below)
            continue;
        ok =
            spec->kind == COLUMN_TEXT
                ? job_error(job,
                            "the vocabulary%s%s has %" PRId64 " tokens, but the model's `%s` takes "
                            "%" PRId64,
                            spec->vocab ? " of " : "", spec->vocab ? spec->input : "", size,
                            spec->input, spec->below)
                : job_error(job,
                            "`%s` has %" PRId64 " labels, and the model tells %" PRId64
                            " apart%s: %s",
                            spec->input, size, spec->below - spec->first,
                            spec->first ? " besides the blank" : "",
                            classes_setting(job->arena, model, spec, size + spec->first));
    }
    return ok;
}

bool column_is_shared_text(const DataColumns *columns, int c)
{
    return columns->specs[c].kind == COLUMN_TEXT && !columns->own[c];
}

bool columns_have_text(const ModelPorts *ports, const DataColumns *columns)
{
    bool any = ports->source || ports->target;
    for (int c = 0; c < columns->n; c++)
        any = any || column_is_shared_text(columns, c);
    return any;
}

bool columns_hide(const DataColumns *columns)
{
    bool any = false;
    for (int c = 0; c < columns->n; c++)
        any = any || (columns->specs[c].hide.rate > 0 && !columns->own[c]);
    return any;
}

int columns_find(const DataColumns *columns, const char *input)
{
    for (int c = 0; c < columns->n; c++)
        if (!strcmp(columns->specs[c].input, input))
            return c;
    return -1;
}
