/* Shared by the rules of one column of ops.def: each is
 *   bool infer_RULE(const Infer *in, Type *type)
 * It may rely on the arity being right; attributes are checked where used. */
#ifndef IR_INFER_RULES_H
#define IR_INFER_RULES_H

#include "ir/infer.h"

typedef struct Infer {
    const Module *module;
    const Op *op;
    Diagnostics *diags;
} Infer;

typedef bool InferRule(const Infer *in, Type *type);
#define OP(name, arity, family, infer, ...) InferRule infer_##infer;
#include "ir/ops.def"

/* Reports "OP: message" at the op's place and returns false. */
bool infer_fail(const Infer *in, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *infer_text(const Infer *in, const Type *type);
const char *infer_dim_text(const Infer *in, Dim dim);
static inline const Type *infer_arg(const Infer *in, int i) { return &in->op->args[i]->type; }
/* The attribute, or NULL after reporting that it is missing. */
const Attr *infer_attr(const Infer *in, AttrName name);
/* `axis` attribute of an operand whose dimension there is constant; -1 after reporting. */
int infer_const_axis(const Infer *in);

#endif
