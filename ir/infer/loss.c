/* Type rules of sequence losses. */
#include "ir/infer/rules.h"

static bool ctc_operands(const Infer *in)
{
    const Type *x = infer_arg(in, 0), *labels = infer_arg(in, 1);
    bool fits = x->rank == 3 && labels->rank == 2 && (x->dtype == DT_F32 || x->dtype == DT_F64) &&
                labels->dtype == DT_I32 && dim_equal(x->dims[0], labels->dims[0]) &&
                symbol_is_ragged(in->module, x->dims[1].symbol) &&
                symbol_is_ragged(in->module, labels->dims[1].symbol) && dim_is_const(x->dims[2]);
    return fits ? true
                : infer_fail(
                      in,
                      "needs log-probabilities [B, T~, V] and labels i32[B, L~], given %s and %s",
                      infer_text(in, x), infer_text(in, labels));
}

bool infer_ctc(const Infer *in, Type *type)
{
    if (!ctc_operands(in))
        return false;
    *type = type_of(infer_arg(in, 0)->dtype, 1, infer_arg(in, 0)->dims);
    return true;
}

bool infer_ctc_grad(const Infer *in, Type *type)
{
    if (!ctc_operands(in))
        return false;
    *type = *infer_arg(in, 0);
    return true;
}
