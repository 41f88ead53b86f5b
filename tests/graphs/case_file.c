/* Cases as files: the module with the batch, the seed and the check in comments before it.
 *
 *   # differs: element 3 of output out0 is 2, by the oracle 1 …
 *   # family rows
 *   # seed 17
 *   # batch B=2 S=3,0 T=1,4 N=5 …
 *   # check program function=model real=f32
 *   module "graph"
 *   …
 */
#define _GNU_SOURCE
#include "base/file.h"
#include "ir/text.h"
#include "tests/graphs/graphs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_batch(const Module *module, const Batch *batch, Text *out)
{
    text_add(out, "# batch");
    for (size_t i = 0; i < module->symbols.count; i++) {
        const BatchDim *d = &batch->dims[i];
        text_add(out, " %s=", module->symbols.data[i].name);
        if (d->n < 0)
            text_add(out, "%" PRId64, d->extent);
        for (int r = 0; r < d->n; r++)
            text_add(out, "%s%d", r ? "," : "", d->lengths[r]);
    }
    text_add(out, "\n");
}

bool case_write(const char *path, const Case *c, Check check, const Run *run, const Outcome *as)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    Module *module =
        ir_parse(arena, &diags, diag_source(arena, "graph.tir", c->text, strlen(c->text)));
    Text text = {0};
    if (as) {
        const char *message = as->message;
        text_add(&text, "# %s:", result_names[as->result]);
        for (; *message; message++) /* its lines as one */
            text_add(&text, "%c", *message == '\n' ? ' ' : *message);
        text_add(&text, "\n");
    }
    text_add(&text, "# family %s\n# seed %" PRIu64 "\n", c->family, c->seed);
    for (int i = 0; module && i < c->n_batches; i++)
        print_batch(module, &c->batches[i], &text);
    text_add(&text, "# check %s ", check_names[check]);
    run_print(run, &text);
    text_add(&text, "\n%s", c->text);
    bool ok = module && file_write_all(&diags, path, text.data, text.length);
    text_free(&text);
    arena_free(arena);
    return ok;
}

/* "3,0,2" of a ragged one; "5". */
static void parse_dim(const char *text, bool ragged, BatchDim *d)
{
    *d = (BatchDim){.n = -1};
    if (!ragged) {
        d->extent = strtoll(text, NULL, 10);
        return;
    }
    d->n = 0;
    for (const char *at = text; *at && *at != ' ' && d->n < MAX_CASE_ROWS; at++) {
        char *end;
        d->lengths[d->n] = (int32_t)strtol(at, &end, 10);
        d->extent = d->lengths[d->n] > d->extent ? d->lengths[d->n] : d->extent;
        d->n++;
        at = end;
        if (*at != ',')
            break;
    }
}

static bool parse_batch(const Module *module, const char *line, Batch *batch)
{
    batch_expect_room(module);
    for (size_t i = 0; i < module->symbols.count; i++) {
        char key[64];
        snprintf(key, sizeof key, " %s=", module->symbols.data[i].name);
        const char *at = strstr(line, key);
        if (!at)
            return false;
        parse_dim(at + strlen(key), symbol_is_ragged(module, (int)i), &batch->dims[i]);
    }
    return true;
}

static const char *rest_of(Arena *arena, const char *line, const char *word)
{
    size_t n = strlen(word);
    return strncmp(line, word, n) ? NULL : arena_strndup(arena, line + n, strcspn(line + n, "\n"));
}

static bool parse_check(Arena *arena, const char *text, Task *task)
{
    for (int i = 0; i < CHECK_COUNT; i++) {
        size_t n = strlen(check_names[i]);
        if (!strncmp(text, check_names[i], n) && text[n] == ' ') {
            task->check = (Check)i;
            return run_parse(arena, text + n, &task->run);
        }
    }
    return false;
}

bool case_read(Arena *arena, const char *path, Case *c, Task *task)
{
    Diagnostics diags;
    diag_init(&diags, arena);
    const Source *source = file_read(&diags, arena, path, 1 << 24);
    Module *module = source ? ir_parse(arena, &diags, source) : NULL;
    bool ok = module != NULL, has_check = false;
    *c = (Case){.text = source ? source->text : NULL, .family = "golden"};
    for (const char *line = ok ? source->text : ""; *line == '#'; line += strcspn(line, "\n") + 1) {
        const char *text;
        if ((text = rest_of(arena, line, "# seed ")))
            c->seed = strtoull(text, NULL, 10);
        else if ((text = rest_of(arena, line, "# batch")) && c->n_batches < MAX_BATCHES)
            ok = ok && parse_batch(module, text, &c->batches[c->n_batches++]);
        else if ((text = rest_of(arena, line, "# family ")))
            c->family = text;
        else if ((text = rest_of(arena, line, "# check ")))
            ok = has_check = parse_check(arena, text, task) && ok;
    }
    return ok && has_check && c->n_batches;
}
