#!/bin/sh
# `tfc check` on each op alone: gradients in f64 against central differences, compiled code
# against the interpreter, kernels against the scalar reference. A line of ops.txt is an
# expression in x [B, S~, 6] (from a trained table), v [6] and w [6, 6]. Here is every other line; ops_others.sh has the rest.
# Usage: ops.sh TFC [others]   (from the project's root)
set -u
. tests/common.sh
half=1
[ "${2:-}" != others ] || half=0
status=0
while read -r op expression; do
    [ -n "$op" ] || continue
    cat >"$work/op.tfg" <<END
model op_$op
dim B, S
input tokens : token[B, S~]
const vocab = 9
param table : [vocab, 6] = uniform(0.3, 1.4)
param v : [6] = uniform(0.4, 1.3)
param w : [6, 6] = normal(0, 0.5)
x = table[tokens]
u = float(position(6)) + 1
y = $expression
loss = mean(y * y * 0.5 + y) + mean(x * u) * 0.1 + mean(v * w)
END
    if "$tfc" check "$work/op.tfg" >"$work/out" 2>&1 && grep -q '^ok .*gradients' "$work/out"; then
        printf '%-14s %s\n' "$op" "$(sed -n 's/^ok .*differences (f64) *//p' "$work/out")"
    else
        echo "FAILED: $op: $expression"
        cat "$work/out"
        status=1
    fi
done <<LINES
$(awk -v half=$half 'NR % 2 == half' tests/cli/ops.txt)
LINES
[ $half = 1 ] || exit $status
cat >"$work/ctc.tfg" <<'END'
model op_ctc
dim B, T, L
input tokens : token[B, T~]
input labels : token[B, L~]
const vocab = 9
param table : [vocab, 7] = uniform(-1, 1)
param w : [7, 7] = normal(0, 0.7)
l = ctc(log_softmax(table[tokens] @ w), minimum(labels, 5) + 1)
loss = mean(l)
END
if "$tfc" check "$work/ctc.tfg" >"$work/out" 2>&1 && grep -q '^ok .*gradients' "$work/out"; then
    printf '%-14s %s\n' ctc "$(sed -n 's/^ok .*differences (f64) *//p' "$work/out")"
else
    echo "FAILED: ctc"
    cat "$work/out"
    status=1
fi
# Functions of one float are in the language by their row in ops.def alone.
for op in $(sed -n 's/^ELEMENTWISE(\([a-z_0-9]*\), *1, *floats.*/\1/p' ir/ops.def); do
    grep -q "^$op " tests/cli/ops.txt || { echo "FAILED: tests/cli/ops.txt has no line for $op"; status=1; }
done
exit $status
