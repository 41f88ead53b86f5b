/* Carriers: the values of a model that hold whole numbers of one of its inputs unchanged, in
 * another shape or type and perhaps some of them beside others. */
#ifndef IR_CARRIERS_H
#define IR_CARRIERS_H

#include "ir/side.h"

/* The elements `start` to start + size - 1 along an axis of the input; axis NO_AXIS: all. */
enum { NO_AXIS = -1 };
typedef struct CarriedPart {
    int axis;
    int64_t start, size;
} CarriedPart;

/* Carried: what a value holds of the input.
 *   is_exact    every element of the part is among the value's, for every batch; else some of the
 *               input's elements are
 *   is_direct   the value has the input's axes, in their order
 *   by_select   a select may have put others in the place of some
 *   is_f32      it was rounded to f32, which has all whole numbers up to MOST_F32_ID alone */
typedef struct Carried {
    CarriedPart part;
    bool is_exact, is_direct, by_select, is_f32;
    const struct Carried *next;
} Carried;
enum { MOST_F32_ID = 1 << 24 };

typedef struct Carriers {
    const Op *input;
    SideTable of_ops;
} Carriers;

/* The tables are in the module's arena. The function has no regions. */
Carriers carriers_of(const Function *function, const Op *input);
/* What a value holds of the input, a list; NULL: nothing. */
const Carried *carried_by(const Carriers *carriers, const Value *value);
/* Whether it holds the part exactly. */
bool carries_part(const Carriers *carriers, const Value *value, const CarriedPart *part);
static inline bool part_is_whole(const CarriedPart *part) { return part->axis == NO_AXIS; }
static inline bool part_equal(const CarriedPart *a, const CarriedPart *b)
{
    return a->axis == b->axis && a->start == b->start && a->size == b->size;
}
/* The op behind those that only show its result under other coordinates or as another type. */
const Op *op_shown(const Value *value);
/* Whether the value is one number in all of its elements, which goes to *number; else 0 does. */
bool value_is_constant(const Value *value, double *number);

#endif
