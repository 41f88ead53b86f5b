/* Many graphs, by processes; see main.c. */
#ifndef TESTS_GRAPHS_DRIVER_H
#define TESTS_GRAPHS_DRIVER_H

#include "tests/graphs/graphs.h"

typedef struct Drive {
    uint64_t seed;
    int64_t from, graphs; /* numbers of graphs: from … from + graphs - 1 */
    double seconds;       /* 0: until all are run */
    const char *family;   /* NULL: all */
    const char *out;      /* folder of findings */
    const char *log;      /* a file that a line of counts is added to each minute, or NULL */
    bool first;           /* end at the first finding, which is not shrunk */
} Drive;

/* The checks of graph `number`. */
void drive_tasks(Arena *arena, const Drive *drive, int64_t number, const Case *c, Tasks *out);
/* The program's exit status: 0, or 1 if something was found. */
int drive_run(const Drive *drive);

#endif
