/* What a gradient takes as given, held for differences of the loss: what stop() takes, and states.
 *
 *   gradient   %3 = stop_gradient %2        loss   %3 = input {name = "held.0"}
 *              output %2 {name = "held.0"}
 *
 * A difference moves params alone. The states stay by themselves: the loss has no ops that change
 * them. */
#include "check/check.h"

#include "passes/clone.h"

#include <string.h>

static const char prefix[] = "held.";

static const char *held_name(const Function *function, int i)
{
    return arena_printf(function->module->arena, "%s%d", prefix, i);
}

static void hold_aside(Function *gradient, Op *op, double factor)
{
    Value *x = op->args[0];
    if (factor == 1 || !dtype_is_float(x->type.dtype))
        return;
    Builder b = builder_before(gradient, &gradient->body, op);
    op_set_arg(op, 0, build_binary(&b, OP_mul, x, build_const_of(&b, x->type, factor)));
}

void held_add_outputs(Function *gradient, double factor)
{
    int n = 0;
    FOR_OPS (op, &gradient->body) {
        Builder b = builder_at_end(gradient);
        if (op->kind != OP_stop_gradient)
            continue;
        hold_aside(gradient, op, factor);
        build_output(&b, held_name(gradient, n++), op->args[0]);
    }
}

Function *held_loss(const Function *gradient, const char *name)
{
    Function *loss = clone_function(gradient, name);
    int n = 0;
    FOR_OPS (op, &loss->body) {
        Builder b = builder_before(loss, &loss->body, op);
        if (op->kind == OP_stop_gradient)
            value_replace(op_result(op),
                          build_input(&b, held_name(loss, n++), op_result(op)->type));
        else if (op->kind == OP_assign ||
                 (op->kind == OP_output && strcmp(op_string(op, ATTR_name), "loss")))
            block_remove(&loss->body, op);
    }
    remove_dead(loss);
    return loss;
}

const char *held_text(const Check *check, const Variant *gradient)
{
    int n = 0;
    FOR_OPS (op, &gradient->meaning->body)
        n += op->kind == OP_stop_gradient;
    return n ? arena_printf(check->job->arena, "; %d stopped value%s held", n,
                            text_plural(n, "", "s"))
             : "";
}

bool held_bind(Check *check, Variant *gradient, const TfcProgram *program, Exec *exec)
{
    Binding *binding = &gradient->binding;
    for (int i = 0; i < gradient->program->n_outputs; i++) {
        const TfcPort *port = &gradient->program->outputs[i];
        if (strncmp(port->name, prefix, strlen(prefix)))
            continue;
        StTensor tensor = tensors_output(binding, gradient->program, port,
                                         exec_output(gradient->exec, port->name));
        vec_push(check->job->arena, binding->made, tensor);
    }
    return tensors_bind(binding, program, exec);
}
