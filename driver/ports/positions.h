/* Tables that a model looks its positions up in: how long its texts may be. */
#ifndef DRIVER_PORTS_POSITIONS_H
#define DRIVER_PORTS_POSITIONS_H

#include "ir/graph.h"

/* PositionTable: the rows that positions of a dimension may reach; `name`: the param's. length 0: there
 * is none, and any length will do. */
typedef struct PositionTable {
    int64_t length;
    const char *name;
} PositionTable;

/* The shortest one that positions along the dimension of this name are looked up in; of NULL, along any. */
PositionTable position_table(const Module *module, const char *dimension);

#endif
