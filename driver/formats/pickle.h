/* Pickles of Python (protocols 2 to 5; cpython's Lib/pickletools.py describes the opcodes), read as
 * data. Reading calls nothing: a pickle names functions and classes, and only those that the reader
 * is given are known, each of which is a case of its own `make`. Any other name, and each opcode
 * that would make an object in another way, is refused by name. Values may contain themselves. */
#ifndef DRIVER_FORMATS_PICKLE_H
#define DRIVER_FORMATS_PICKLE_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"
#include "driver/formats/advice.h"

#include <stdint.h>

typedef enum PickledKind {
    PICKLED_NONE,
    PICKLED_BOOL,
    PICKLED_INTEGER,
    PICKLED_NUMBER, /* with a point, or of more than 64 bits: which is not kept */
    PICKLED_TEXT,   /* or bytes */
    PICKLED_TUPLE,  /* the items of a tuple or a frozen set */
    PICKLED_LIST,   /* of a list or a set */
    PICKLED_DICT,   /* key, value, key, value … */
    PICKLED_GLOBAL, /* a name that the reader knows: `integer` is its number */
    PICKLED_OBJECT, /* what `make` or `load` has made: `object`, and `integer` is its kind */
} PickledKind;
/* Pickled: a value. Whatever its kind, `items` may be counted. */
typedef struct Pickled Pickled;
struct Pickled {
    PickledKind kind;
    VEC(const Pickled *) items;
    union {
        int64_t integer; /* also of PICKLED_BOOL, PICKLED_GLOBAL and PICKLED_OBJECT */
        size_t length;   /* of a text: its bytes, without the NUL behind them */
    };
    union {
        const char *text;
        const void *object;
    };
};

typedef struct PickleReader PickleReader;
/* PickleRules: what a pickle may name, and what becomes of it.
 *   globals   "module name", n of them
 *   make      the value of a call of a global; NULL after pickle_problem, or if the arena failed
 *   load      the value of a persistent id; NULL as above. NULL: there are none of these */
typedef struct PickleRules {
    const char *const *globals;
    int n_globals;
    const Pickled *(*make)(PickleReader *reader, int global, const Pickled *arguments);
    const Pickled *(*load)(PickleReader *reader, const Pickled *id);
    void *context;
} PickleRules;
struct PickleReader {
    Arena *arena; /* one that may fail */
    const PickleRules *rules;
    const char *problem; /* the first */
};

enum { PICKLE_MAX_BYTES = 16 << 20 };

/* Reads the pickle at the beginning of `bytes`; *used is its length. NULL: *problem says why; or
 * the arena has failed. */
const Pickled *pickle_read(Arena *arena, const PickleRules *rules, const void *bytes, uint64_t size,
                           uint64_t *used, const char **problem);
/* Sets the problem, unless there is one; returns NULL. */
const Pickled *pickle_problem(PickleReader *reader, const char *problem);
/* A new value of a kind; NULL: the arena has failed. */
Pickled *pickle_value(PickleReader *reader, PickledKind kind);
/* The value of a text key; NULL: not a dict, or it has no such key. */
const Pickled *pickle_member(const Pickled *dict, const char *key);

#endif
