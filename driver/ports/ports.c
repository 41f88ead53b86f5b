/* Roles of a model's inputs and outputs. */
#include "driver/ports/ports.h"

#include "driver/ports/token_ids.h"
#include "frontend/frontend.h"
#include "ir/id_uses.h"

#include <string.h>

static bool is_tokens(const Module *module, const Type *type)
{
    return type->dtype == DT_I32 && type->rank == 2 &&
           symbol_is_ragged(module, type->dims[1].symbol);
}

static const Op *find_input(const Function *model, const char *name, size_t length)
{
    FOR_OPS (op, &model->body)
        if (op->kind == OP_input && strlen(op_string(op, ATTR_name)) == length &&
            !strncmp(op_string(op, ATTR_name), name, length))
            return op;
    return NULL;
}

/* How many places behind its input's tokens an input's are: 2 of "tgt.next.next", where stem is the
 * length of "tgt". */
static int places_ahead(const char *name, size_t *stem)
{
    const size_t suffix = strlen(NEXT_SUFFIX);
    int n = 0;
    for (*stem = strlen(name);
         *stem > suffix && !strncmp(name + *stem - suffix, NEXT_SUFFIX, suffix); n++)
        *stem -= suffix;
    return n;
}

/* Target, next tokens, and those behind them. */
static void find_next(const Function *model, ModelPorts *ports)
{
    FOR_OPS (op, &model->body) {
        const char *name = op->kind == OP_input ? op_string(op, ATTR_name) : "";
        size_t stem;
        int ahead = places_ahead(name, &stem);
        if (!ahead || ahead > 2)
            continue;
        const Op *target = find_input(model, name, stem);
        *(ahead == 1 ? &ports->next : &ports->further) = name;
        ports->target = target ? op_string(target, ATTR_name) : NULL;
    }
}

static void find_sides(const Module *module, const Function *model, ModelPorts *ports)
{
    const char *second = NULL;
    int source_dim = NO_SYMBOL;
    FOR_OPS (op, &model->body) {
        if (op->kind != OP_input || !is_tokens(module, &op_result(op)->type))
            continue;
        const char *name = op_string(op, ATTR_name);
        if (name == ports->target || token_is_made(op))
            continue;
        int dim = op_result(op)->type.dims[1].symbol;
        if (!ports->source) {
            ports->source = name;
            source_dim = dim;
        } else if (!second && dim != source_dim) {
            second = name;
        }
    }
    if (!ports->target)
        ports->target = second;
}

/* ---- tables ---- */

const char *ports_field(const Op *input)
{
    return op_string(input, op_attr(input, ATTR_column) ? ATTR_column : ATTR_name);
}

/* The first tokens of another dimension than the target's, if can be of an input that says no
 * column. */
static const char *table_source(const Module *module, const Function *model,
                                const ModelPorts *ports)
{
    const Op *target = find_input(model, ports->target, strlen(ports->target)), *first = NULL;
    FOR_OPS (op, &model->body)
        if (op->kind == OP_input && op != target && !token_is_made(op) &&
            is_tokens(module, &op_result(op)->type) &&
            op_result(op)->type.dims[1].symbol != op_result((Op *)target)->type.dims[1].symbol &&
            (!first || (op_attr(first, ATTR_column) && !op_attr(op, ATTR_column))))
            first = op;
    return first ? op_string(first, ATTR_name) : NULL;
}

static void find_columns(const Module *module, const Function *model, ModelPorts *ports)
{
    if (ports->target)
        ports->source = table_source(module, model, ports);
    FOR_OPS (op, &model->body) {
        const char *name = op->kind == OP_input ? op_string(op, ATTR_name) : NULL;
        if (!name || name == ports->source || name == ports->target || token_is_made(op))
            continue;
        if (ports->n_columns < MOST_COLUMNS)
            ports->columns[ports->n_columns] = op;
        ports->n_columns++;
    }
}

static void find_inputs(const Module *module, const Function *model, ModelPorts *ports)
{
    find_next(model, ports);
    FOR_OPS (op, &model->body)
        if (op->kind == OP_input && op_attr(op, ATTR_column))
            ports->is_table = true;
    (ports->is_table ? find_columns : find_sides)(module, model, ports);
}

MissingKind ports_missing(const Module *module, const Op *input)
{
    MissingKind kind = MISSING_REFUSED;
    if (!op_attr(input, ATTR_column) || !dtype_is_float(op_result((Op *)input)->type.dtype))
        return kind;
    if (op_attr(input, ATTR_missing))
        return MISSING_MARKED;
    FOR_OPS (op, &module_function(module, "model")->body)
        if (op->kind == OP_input && op_attr(op, ATTR_missing) &&
            !strcmp(op_string(op, ATTR_column), op_string(input, ATTR_column)))
            kind = MISSING_ZERO;
    return kind;
}

const Op *ports_input(const Module *module, const char *name)
{
    return find_input(module_function(module, "model"), name, strlen(name));
}

/* The rows of the table that an input's tokens are looked up in; 0: none. */
static int64_t table_of(const Function *model, const char *input)
{
    const Op *op = input ? find_input(model, input, strlen(input)) : NULL;
    return op ? token_table(model, op) : 0;
}

/* The classes that an input's integers are compared with; INT64_MAX: any. */
static int64_t labels_of(const Function *model, const char *input)
{
    const Op *op = input ? find_input(model, input, strlen(input)) : NULL;
    return op ? token_labels(model, op) : INT64_MAX;
}

/* How many tokens the model tells apart: those its next tokens are compared with, or else its table
 * has. */
static int64_t width_of(const Function *model, const ModelPorts *ports)
{
    int64_t labels = labels_of(model, ports->next);
    return labels < INT64_MAX ? labels
                              : table_of(model, ports->target ? ports->target : ports->source);
}

ModelPorts ports_of(const Module *module)
{
    ModelPorts ports = {0};
    const Function *model = module_function(module, "model");
    find_inputs(module, model, &ports);
    if (ports.is_table && !ports.target)
        return ports;
    const int64_t width = width_of(model, &ports);
    FOR_OPS (op, &model->body) {
        if (op->kind != OP_output || !strcmp(op_string(op, ATTR_name), "loss") ||
            op_attr(op, ATTR_predict))
            continue;
        const Type *type = &op->args[0]->type;
        bool is_named = !strcmp(op_string(op, ATTR_name), "logits");
        if (type->rank != 3 || !dtype_is_float(type->dtype) || !dim_is_const(type->dims[2]) ||
            (!is_named && (ports.logits || type->dims[2].size != width)))
            continue;
        ports.logits = op_string(op, ATTR_name);
        ports.vocab = type->dims[2].size;
    }
    return ports;
}

bool ports_predict(const ModelPorts *ports)
{
    return ports->target && ports->next && ports->logits;
}

int64_t ports_vocabulary(const Module *module, const ModelPorts *ports, const char *input)
{
    const Function *model = module_function(module, "model");
    int64_t below = table_of(model, input);
    bool has_labels = input && input == ports->target && !ports->next;
    int64_t labels = has_labels ? labels_of(model, input) : INT64_MAX;
    return labels < INT64_MAX && (!below || labels < below) ? labels : below;
}

IdRanges ports_ids(const Module *module, const Op *input)
{
    const bool is_made = token_is_made(input);
    IdRanges ranges = id_ranges(module_function(module, "model"), input, is_made);
    const int64_t vocab = ports_of(module).vocab;
    if (!ranges.n && vocab && text_ends(op_string(input, ATTR_name), NEXT_SUFFIX)) {
        IdRange *of_logits = ARENA_NEW(module->arena, IdRange);
        *of_logits = (IdRange){.least = INT32_MIN, .below = vocab, .period = 1, .to = 1};
        ranges = (IdRanges){1, of_logits};
    }
    return ranges;
}

CorpusKind ports_kind(const ModelPorts *ports, bool lines)
{
    const CorpusKind sides = (ports->source ? HAS_SOURCE : 0) | (ports->target ? HAS_TARGET : 0);
    if (ports->is_table || sides == CORPUS_PAIRS)
        return sides;
    return !ports->target ? CORPUS_SENTENCES : lines ? CORPUS_LINES : CORPUS_STREAM;
}

static bool is_fed(const ModelPorts *ports, const char *name)
{
    const char *fed[] = {ports->source, ports->target, ports->next, ports->further};
    for (size_t i = 0; i < sizeof fed / sizeof *fed; i++)
        if (fed[i] && !strcmp(fed[i], name))
            return true;
    for (int c = 0; c < ports->n_columns && c < MOST_COLUMNS; c++) {
        const char *column = op_string(ports->columns[c], ATTR_name);
        const size_t n = strlen(column);
        if (!strncmp(column, name, n) && (!name[n] || !strcmp(name + n, HIDDEN_SUFFIX)))
            return true;
    }
    return false;
}

/* A dimension of the input that is made of others, so that data cannot say how long it is;
 * NO_SYMBOL: there is none. */
static int made_symbol(const Module *module, const Op *input)
{
    const Type *type = &op_result((Op *)input)->type;
    for (int i = 0; i < type->rank; i++)
        if (symbol_is_made(module, type->dims[i].symbol))
            return type->dims[i].symbol;
    return NO_SYMBOL;
}

/* Whether it is a source or target along a dimension that is made of others. */
static bool is_made_text(const ModelPorts *ports, const Module *module, const Op *input)
{
    const char *name = op_string(input, ATTR_name), *sides[] = {ports->source, ports->target};
    for (int side = 0; side < 2; side++)
        if (sides[side] && !strcmp(sides[side], name))
            return made_symbol(module, input) != NO_SYMBOL;
    return false;
}

/* An input of the model that the function reads and no column feeds, as the model declares it; or
 * NULL. */
static const Op *find_unfed(const ModelPorts *ports, const Function *function)
{
    const Function *model = module_function(function->module, "model");
    FOR_OPS (op, &function->body) {
        const char *name = op->kind == OP_input ? op_string(op, ATTR_name) : NULL;
        const Op *declared = name ? find_input(model, name, strlen(name)) : NULL;
        if (declared && (!is_fed(ports, name) || is_made_text(ports, function->module, declared)))
            return declared;
    }
    return NULL;
}

bool ports_are_fed(const ModelPorts *ports, const Function *function)
{
    return !find_unfed(ports, function);
}

bool ports_feed(const ModelPorts *ports, const Function *function, Diagnostics *diags)
{
    const Op *declared = find_unfed(ports, function);
    if (declared) {
        Text columns = {0};
        if (ports->source)
            text_add(&columns, ports->target ? "source text feeds `%s`" : "the text feeds `%s`",
                     ports->source);
        if (ports->target)
            text_add(&columns, "%s `%s`%s", ports->source ? ", target text" : "the text feeds",
                     ports->target, ports->next ? " and its next tokens" : "");
        const char *name = op_string(declared, ATTR_name);
        int made = made_symbol(function->module, declared);
        if (made != NO_SYMBOL)
            diag_error(
                diags, declared->loc,
                "no text feeds `%s`: its dimension `%s` is made of others; columns of numbers "
                "or labels may lie along such a one, and `tfc run` takes tensors",
                name, function->module->symbols.data[made].name);
        else if (ports->is_table && ports->n_columns <= MOST_COLUMNS)
            diag_error(diags, declared->loc,
                       "nothing feeds `%s`: a model has one target with next tokens, here `%s`",
                       name, ports->target);
        else if (ports->is_table)
            diag_error(diags, declared->loc, "the model has %d columns, and %d are the most",
                       ports->n_columns, MOST_COLUMNS);
        else
            diag_error(
                diags, declared->loc,
                "no column of the data feeds the input `%s`: %s; `= column(\"%s\")` behind its type "
                "feeds it from a table",
                name, columns.length ? columns.data : "the model has no input of tokens [B, S~]",
                name);
        text_free(&columns);
    }
    return !declared;
}
