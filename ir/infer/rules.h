/* What the type rules of ops.def (column `infer`) share. Each rule is
 *   bool infer_RULE(const Infer *in, Type *type)
 * infer_type has checked the arity; a rule checks the attributes that it uses. */
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
/* Whether the attribute `quant` names integers; false after reporting that it does not. */
bool infer_quant(const Infer *in);
/* The attribute `axis`, along which operand 0 must have a constant dimension; -1 after reporting
 * that it is missing or wrong. */
int infer_const_axis(const Infer *in);
/* The attribute `shape`, whose dimensions the module has; NULL after reporting. */
const Attr *infer_shape(const Infer *in);

#endif
