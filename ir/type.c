/* Types. */
#include "ir/type.h"

#include <float.h>
#include <string.h>

double dtype_lowest(DType t)
{
    return t == DT_F64 ? -DBL_MAX : t == DT_BF16 ? -0x1.fep127 : -FLT_MAX;
}

bool dtype_parse(const char *name, DType *dtype)
{
    for (int i = 0; i < DT_COUNT; i++)
        if (!strcmp(dtype_name((DType)i), name)) {
            *dtype = (DType)i;
            return true;
        }
    return false;
}

bool type_same_shape(const Type *a, const Type *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (!dim_equal(a->dims[i], b->dims[i]))
            return false;
    return true;
}

bool type_equal(const Type *a, const Type *b)
{
    return a->dtype == b->dtype && type_same_shape(a, b);
}

Type type_scalar(DType dtype) { return (Type){.dtype = dtype}; }

Type type_of(DType dtype, int rank, const Dim *dims)
{
    Type type = {.dtype = dtype, .rank = rank};
    for (int i = 0; i < rank; i++)
        type.dims[i] = dims[i];
    return type;
}

int type_long_dim(const Type *type)
{
    int found = -1;
    for (int i = 0; i < type->rank; i++)
        if (!dim_is_one(type->dims[i])) {
            if (found >= 0)
                return -1;
            found = i;
        }
    return found;
}

bool type_differs_by_ones(const Type *from, const Type *to, int from_dim[])
{
    int j = 0;
    for (int i = 0; i < to->rank; i++) {
        from_dim[i] = -1;
        if (dim_is_one(to->dims[i]))
            continue;
        while (j < from->rank && dim_is_one(from->dims[j]))
            j++;
        if (j == from->rank || !dim_equal(from->dims[j], to->dims[i]))
            return false;
        from_dim[i] = j++;
    }
    while (j < from->rank && dim_is_one(from->dims[j]))
        j++;
    return j == from->rank;
}

int type_find_dim(const Type *type, int symbol)
{
    for (int i = 0; i < type->rank; i++)
        if (type->dims[i].symbol == symbol)
            return i;
    return -1;
}

int type_count_dim(const Type *type, int symbol)
{
    int n = 0;
    for (int i = 0; i < type->rank; i++)
        n += type->dims[i].symbol == symbol;
    return n;
}

bool type_is_table(const Type *table)
{
    return table->dtype == DT_F32 && table->rank == 2 && dim_is_const(table->dims[0]) &&
           dim_is_const(table->dims[1]) && table->dims[0].size > 0 && table->dims[1].size > 0 &&
           table->dims[1].size <= MAX_QUANT_TERMS;
}
