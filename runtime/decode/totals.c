/* Adding what pieces of a batch give. */
#include "runtime/decode/totals.h"

#include "base/functions.h"

#include <stdlib.h>
#include <string.h>

/* Total: its numbers among those of a piece. */
typedef struct Total {
    const char *name; /* the program's */
    int64_t at, count;
} Total;

struct Totals {
    int64_t pieces, size; /* numbers of a piece */
    int n;
    Total *list;
    double *numbers; /* of each piece */
    float *sums;
};

static int64_t port_elements(const TfcPort *port)
{
    int64_t n = 1;
    for (int i = 0; i < port->shape.rank; i++)
        n *= port->shape.dims[i].size;
    return n;
}

static void list_outputs(Totals *t, const TfcProgram *program)
{
    for (int i = 0; i < program->n_outputs; i++) {
        const TfcPort *port = &program->outputs[i];
        if (strncmp(port->name, TOTAL_PREFIX, strlen(TOTAL_PREFIX)))
            continue;
        t->list[t->n++] = (Total){port->name, t->size, port_elements(port)};
        t->size += port_elements(port);
    }
}

Totals *totals_new(const TfcProgram *program, int64_t pieces)
{
    Totals *t = calloc(1, sizeof *t);
    if (!t || !(t->list = calloc((size_t)program->n_outputs + 1, sizeof *t->list))) {
        free(t);
        return NULL;
    }
    t->pieces = pieces;
    list_outputs(t, program);
    t->numbers = calloc((size_t)(pieces * t->size) + 1, sizeof *t->numbers);
    t->sums = calloc((size_t)t->size + 1, sizeof *t->sums);
    if (t->numbers && t->sums)
        return t;
    totals_free(t);
    return NULL;
}

void totals_free(Totals *t)
{
    if (!t)
        return;
    free(t->list);
    free(t->numbers);
    free(t->sums);
    free(t);
}

void totals_clear(Totals *t)
{
    memset(t->numbers, 0, (size_t)(t->pieces * t->size) * sizeof *t->numbers);
}

void totals_take(Totals *t, Exec *exec, int64_t piece)
{
    for (int i = 0; i < t->n; i++) {
        const Total *total = &t->list[i];
        const float *from = exec_output(exec, total->name);
        double *to = t->numbers + piece * t->size + total->at;
        for (int64_t k = 0; k < total->count; k++)
            to[k] += (double)from[k];
    }
}

double *totals_numbers(Totals *t, int64_t *n)
{
    *n = t->pieces * t->size;
    return t->numbers;
}

void totals_finish(Totals *t)
{
    for (int64_t k = 0; k < t->size; k++) {
        double sum = 0;
        for (int64_t piece = 0; piece < t->pieces; piece++)
            sum += t->numbers[piece * t->size + k];
        t->sums[k] = (float)sum;
    }
}

void totals_feed(const Totals *t, Exec *exec)
{
    for (int i = 0; i < t->n; i++)
        exec_input(exec, t->list[i].name, t->sums + t->list[i].at);
}
