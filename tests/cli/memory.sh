#!/bin/sh
# Training within --memory on made-up text (words read backwards): less is planned, and
# the params are the same, bit for bit, with dropout, in f32 and bf16, of one batch or
# several an update; the least that an error names is enough; what is refused.
# Usage: memory.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

backwards_with 0.1 "layers = 3, d_model = 32, d_ff = 128, heads = 4" >model.tfg <<'END'
train {
  optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9)
  rate      = inverse_sqrt(peak = 0.005, warmup = 10)
  batch     = tokens(1500)
  clip_norm = 1
}
END
words_backwards
train() {
    out=$1
    shift
    "$tfc" train model.tfg --source all.src --target all.tgt --vocab words:auto --out "$out" \
        --seed 3 --steps 6 "$@" 2>"$out.err"
}
# "… and optimizer, 1.9 MB of activations": in MB
values() { sed -n 's/.*optimizer, \([0-9.]*\) MB of activations.*/\1/p' "$1.err"; }
least() { sed -n 's/.*needs \([0-9]*[kM]\) at least.*/\1/p' "$1.err"; }

# All that it takes, and the least there can be.
for case in f32 bf16 accumulate; do
    set --
    [ $case = bf16 ] && set -- --dtype bf16
    [ $case = accumulate ] && set -- --accumulate 2
    train whole.$case "$@" || fail "$case: $(cat whole.$case.err)"
    train none.$case --memory 10k "$@" && fail "$case: trained in 10 kB"
    grep -q "params and optimizer take" none.$case.err || fail "$case: $(cat none.$case.err)"
    train none.$case --memory 1500k "$@" && fail "$case: trained in 1.5 MB"
    size=$(least none.$case)
    [ -n "$size" ] || fail "$case: $(cat none.$case.err)"
    train less.$case --memory "$size" "$@" || fail "$case, $size: $(cat less.$case.err)"
    echo "$case: $(values whole.$case) MB of values, $(values less.$case) MB within $size"
    awk "BEGIN { exit !($(values less.$case) < 0.75 * $(values whole.$case)) }" ||
        fail "$case: not much is recomputed"
    same_tensors whole.$case/last.safetensors less.$case/last.safetensors "$case: other params"
done

# Where there is room for all, the plan is the one without the option.
"$tfc" dump model.tfg --stage plan >a
"$tfc" dump model.tfg --stage plan --memory 1G >b
cmp a b || fail "a limit that is no limit changes the plan"
"$tfc" dump model.tfg --report --memory 1k 2>&1 | grep -q "needs .* at least" || fail "dump: no error"
"$tfc" bench model.tfg --steps 1 --warm-up 0 --memory 1k 2>/dev/null && fail "bench in 1 kB"
size=$("$tfc" bench model.tfg --steps 1 --memory 1k 2>&1 | sed -n 's/.*needs \([0-9]*[kM]\) at least.*/\1/p')
"$tfc" bench model.tfg --steps 1 --warm-up 0 --memory "$size" >/dev/null || fail "bench within $size"

# What is no size, and where there is no limit.
for size in 1X M 0 -1G 1.5GB ""; do
    status=0
    train no --memory "$size" || status=$?
    [ $status = 2 ] || fail "--memory '$size' exits with $status"
    grep -q "expected a size such as 800M or 1.5G" no.err || fail "'$size': $(cat no.err)"
done
"$tfc" bench model.tfg --mode decode --memory 1G 2>/dev/null && fail "bench --mode decode --memory"
exit 0
