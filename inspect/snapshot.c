/* The function after each pass, for the page. What a pass left alone is written
 * once: a stage is a list of numbers of records, and a record is what one op is. */
#include "inspect/inspect.h"

#include "ir/text.h"

#include <stdint.h>
#include <stdio.h>

typedef struct Stage {
    const char *name, *help;
    VEC(int) records;
} Stage;

struct Snapshots {
    Arena *arena;
    Map numbers; /* address of an op → its number + 1; ops live as long as their module */
    int next;    /* results of one op have numbers in a row */
    Map records; /* JSON of a record → its number + 1 */
    Map words;   /* types, attributes, scopes, kinds: text → number + 1 */
    Map places;  /* JSON of a list of [file, line] → number + 1 */
    Map files;   /* path → number + 1 */
    VEC(Stage) stages;
};

Snapshots *snapshots_new(Arena *arena)
{
    Snapshots *s = ARENA_NEW(arena, Snapshots);
    s->arena = arena;
    Map *maps[] = {&s->numbers, &s->records, &s->words, &s->places, &s->files};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        map_init(maps[i], arena);
    return s;
}

/* The number of a text in a table. */
static int intern(Map *map, const char *text)
{
    size_t number = (size_t)map_get(map, text);
    if (!number)
        map_set(map, text, (void *)(number = map->count + 1));
    return (int)number - 1;
}

int snapshots_op(Snapshots *s, const Op *op)
{
    char key[32];
    snprintf(key, sizeof key, "%p", (const void *)op);
    size_t number = (size_t)map_get(&s->numbers, key);
    if (!number) {
        number = (size_t)s->next + 1;
        s->next += op->n_results > 1 ? op->n_results : 1;
        map_set(&s->numbers, key, (void *)number);
    }
    return (int)number - 1;
}

static void add_place(Snapshots *s, const Source *source, int line, Text *out)
{
    if (source)
        text_add(out, "%s%d,%d", out->length > 1 ? "," : "", intern(&s->files, source->path), line);
}

int snapshots_place(Snapshots *s, Loc loc)
{
    Text text = {0};
    text_add(&text, "[");
    add_place(s, loc.source, loc.line, &text);
    for (const Trail *trail = loc.trail; trail; trail = trail->up)
        if (trail->source != loc.source || trail->line != loc.line)
            add_place(s, trail->source, trail->line, &text);
    text_add(&text, "]");
    int number = intern(&s->places, text.data);
    text_free(&text);
    return number;
}

static int take_op(Snapshots *s, const Module *module, const Op *op);

/* [first, count, first, count …] */
static void write_runs(const int *numbers, size_t n, Text *out)
{
    text_add(out, "[");
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && numbers[j] == numbers[j - 1] + 1; j++)
            continue;
        text_add(out, "%s%d,%zu", i ? "," : "", numbers[i], j - i);
    }
    text_add(out, "]");
}

/* [number, kind, types, attributes, place, scope, [operands], results, [body]] */
static int take_op(Snapshots *s, const Module *module, const Op *op)
{
    Text text = {0}, types = {0}, attrs = {0};
    VEC(int) body = {0};
    if (op->body)
        FOR_OPS (inner, op->body)
            vec_push(s->arena, body, take_op(s, module, inner));
    for (int i = 0; i < op->n_results; i++) {
        text_add(&types, "%s", i ? ", " : "");
        ir_print_type(module, &op->results[i].type, &types);
    }
    ir_print_attrs(module, op, &attrs);
    text_add(&text, "[%d,%d,%d,%d,%d,%d,[", snapshots_op(s, op),
             intern(&s->words, op_info[op->kind].name),
             intern(&s->words, types.data ? types.data : ""),
             intern(&s->words, attrs.data ? attrs.data : ""), snapshots_place(s, op->loc),
             intern(&s->words, op->scope ? op->scope : ""));
    for (int i = 0; i < op->n_args; i++)
        text_add(&text, "%s%d", i ? "," : "",
                 snapshots_op(s, op->args[i]->op) + op->args[i]->index);
    text_add(&text, "],%d", op->n_results);
    if (op->body) {
        text_add(&text, ",");
        write_runs(body.data, body.count, &text);
    }
    text_add(&text, "]");
    int record = intern(&s->records, text.data);
    text_free(&text);
    text_free(&types);
    text_free(&attrs);
    return record;
}

void snapshots_take(Snapshots *s, const char *name, const char *help, const Function *function)
{
    Stage stage = {.name = name, .help = help};
    FOR_OPS (op, &function->body)
        vec_push(s->arena, stage.records, take_op(s, function->module, op));
    vec_push(s->arena, s->stages, stage);
}

static void write_table(const char *name, const Map *map, bool quoted, Text *out)
{
    text_add(out, "\"%s\":[", name);
    for (size_t i = 0; i < map->count; i++) {
        text_add(out, "%s", i ? ",\n" : "");
        if (quoted)
            quote_json(map->entries[i].key, strlen(map->entries[i].key), out);
        else
            text_put(out, map->entries[i].key, strlen(map->entries[i].key));
    }
    text_add(out, "],\n");
}

void snapshots_write(const Snapshots *s, Text *out)
{
    write_table("words", &s->words, true, out);
    write_table("files", &s->files, true, out);
    write_table("places", &s->places, false, out);
    write_table("records", &s->records, false, out);
    text_add(out, "\"stages\":[");
    for (size_t i = 0; i < s->stages.count; i++) {
        const Stage *stage = &s->stages.data[i];
        text_add(out, "%s{\"name\":\"%s\",\"help\":", i ? ",\n" : "", stage->name);
        quote_json(stage->help, strlen(stage->help), out);
        text_add(out, ",\"ops\":");
        write_runs(stage->records.data, stage->records.count, out);
        text_add(out, "}");
    }
    text_add(out, "],\n");
}
