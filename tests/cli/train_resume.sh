#!/bin/sh
# Resuming: run.json holds all that decides a run's result, --resume repeats it, tells
# everything that is another now by its name with old and new value, and with
# --allow-change the folder holds what was trained.
# Usage: train_resume.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

"$tfc" --version >version.txt
backwards_with 0.1 >model.tfg <<'END'
train {
  optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9)
  rate      = inverse_sqrt(peak = 0.01, warmup = 10)
  batch     = tokens(400)
}
END
words_backwards
train() {
    out=$1
    shift
    "$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --out "$out" \
        --seed 3 --set p_drop=0.2 "$@" 2>"$out.err" || fail "$out: $(cat "$out.err")"
}

# Nothing is repeated, from another folder, with the model's file gone: the same bits.
train whole --steps 12
train parts --steps 6
for word in '"tfc": ' '"command": ' '"--seed"' '"batch": "400 tokens"' '"dtype": "f32"' '"processor": ' \
    '"sha256": ' '"bytes": ' '"lines": 1100' '"passes": "all"' '"cpu": ' '"p_drop=0.2"' '"seed": "3"' \
    '"rate": "inverse_sqrt(peak = 0.01, warmup = 10)"' '"optimizer": "adam(' '"vocabulary": '; do
    grep -q -- "$word" parts/run.json || fail "no $word in run.json: $(cat parts/run.json)"
done
mkdir elsewhere
mv model.tfg away.tfg
(cd elsewhere && TFC_LIBRARY='' "$tfc" train ../parts --resume --steps 9 2>err) || fail "$(cat elsewhere/err)"
"$tfc" train --resume --out parts --steps 12 2>err || fail "$(cat err)"
same_tensors whole/last.safetensors parts/last.safetensors "resumed without repeating anything"
sed -n 's/.*"seconds": \([0-9.]*\).*/\1/p' parts/log.jsonl | sort -nc || fail "the time begins anew: $(cat parts/log.jsonl)"
mv away.tfg model.tfg
"$tfc" train parts --resume 2>err || fail "a run that is done: $(cat err)"

refuses 2 "nothing to resume: part is not there" "$tfc" train part --resume

# What is another is told by name, with its old and new value, all at once.
resume() { "$tfc" train model.tfg --out parts --resume "$@"; }
cp parts/last.safetensors before.safetensors
refuses 1 "seed: it was 3 and is now 4" resume --seed 4
refuses 1 "dtype: it was f32 and is now bf16" resume --dtype bf16
refuses 1 "batch: it was 400 tokens and is now 300 tokens" resume --batch-tokens 300
refuses 1 "accumulate: it was 1 and is now 2" resume --accumulate 2
refuses 1 "passes: it was all and is now -simplify" resume --passes=-simplify
refuses 1 "cpu: it was .* and is now x86-64" resume --cpu x86-64
refuses 1 "gemm: it was native and is now auto" resume --gemm auto
refuses 1 "max_length: it was 0 and is now 9" resume --max-length 9
refuses 1 "the const heads was as the model has it and is now 4" resume --set heads=4
refuses 1 "the const p_drop was 0.2 and is now 0.3" resume --set p_drop=0.3
refuses 1 "seed: it was 3" resume --set p_drop=0.3 --seed 4
grep -q "const p_drop" "$work/err.txt" || fail "one change hides another: $(cat "$work/err.txt")"
refuses 2 "the vocabulary of a run stays" resume --vocab chars:auto
sed 's/peak = 0.01/peak = 0.02/' model.tfg >faster.tfg
refuses 1 "rate: it was inverse_sqrt(peak = 0.01, warmup = 10) and is now inverse_sqrt(peak = 0.02" \
    "$tfc" train faster.tfg --out parts --resume
{ cat model.tfg; echo 'block activation(x) { return gelu(x) }'; } >other.tfg
refuses 1 "other.tfg:10:1: .*the model was another: parts/model.tfg has no line 10" "$tfc" train other.tfg --out parts --resume
sed 's/heads = 2/heads = 4/' model.tfg >heads.tfg
refuses 1 "heads.tfg:3:1: .*line 3 of parts/model.tfg is 'const layers = 1, d_model = 16, d_ff = 32, heads = 2" \
    "$tfc" train heads.tfg --out parts --resume
# Of a build with other numbers, and of one from before they had versions; another version of tfc or of a library is noted.
cp parts/run.json kept.json
sed 's/"numbers": "/&9/' kept.json >parts/run.json
refuses 1 "numbers: they were those of version 9[0-9]* (tfc [0-9.]*, commit .*), and this build computes those of version [0-9]*:" resume
sed '/"numbers": "/d; /"bits": "/d; /"commit": "/d' kept.json >parts/run.json
refuses 1 "numbers: they were of before they had versions (tfc [0-9.]*), and this build computes those of version" resume
[ "$(grep -c error: "$work/err.txt")" = 1 ] || fail "more than the numbers: $(cat "$work/err.txt")"
sed 's/"version": "/&9/; s/"utf8proc": "/&9/' kept.json >parts/run.json
resume 2>err || fail "another version of tfc: $(cat err)"
grep -q "note: the run was begun by tfc 9[0-9.]* and goes on with [0-9.]*, which computes the same bits" err || fail "$(cat err)"
grep -q "note: utf8proc was 9[0-9.]* when the run began, and is [0-9.]*: texts may be cut otherwise" err || fail "$(cat err)"
cp kept.json parts/run.json
mv train.tgt kept.tgt
refuses 1 "cannot read .*/train.tgt (--target of the run; --target says where it is now): there is no such file" resume
cp kept.tgt train.tgt
sed '7s/^/h /' kept.tgt >train.tgt
refuses 1 "target .*/train.tgt: it was 1100 lines and [0-9]* bytes (sha256 .*…) and is now 1100 lines" resume
grep -q "source" "$work/err.txt" && fail "a text that is the same is told: $(cat "$work/err.txt")"
mv kept.tgt train.tgt
refuses 1 "valid-source .*: the run began without it" resume --valid-source valid.src --valid-target valid.tgt
cmp before.safetensors parts/last.safetensors || fail "a refused resumption changed the checkpoint"
sed 's/^const layers/# a remark\n&/' model.tfg >remark.tfg
"$tfc" train remark.tfg --out parts --resume --steps 13 2>err || fail "a remark in the model: $(cat err)"

# --allow-change goes on, and eval, translate and info see the model that was trained.
"$tfc" train other.tfg --out parts --resume --allow-change --steps 15 --seed 5 2>err || fail "$(cat err)"
grep -q "warning: seed: it was 3 and is now 5" err || fail "a change is not told: $(cat err)"
grep -q gelu parts/model.tfg || fail "the folder holds the model of before"
"$tfc" train parts --resume --steps 16 2>err || fail "after a change: $(cat err)"
grep -q "it was" err && fail "the change is told twice: $(cat err)"
"$tfc" eval parts --source valid.src --target valid.tgt >/dev/null 2>err || fail "$(cat err)"
refuses 1 "the model's is \[24, " resume --allow-change --set d_model=24

# The cosine of a longer run is another curve.
sed 's/rate .*/rate = cosine(peak = 0.01, warmup = 2)/' model.tfg >falls.tfg
"$tfc" train falls.tfg --source train.src --target train.tgt --vocab words:auto --out falls --steps 4 2>err || fail "$(cat err)"
refuses 1 "rate: it was cosine(.*steps = 4) and is now cosine(.*steps = 8)" "$tfc" train falls --resume --steps 8

# Where the bits are common, another processor goes on, with a note; the record has both. Where they are its own, none does.
lacks() { ! "$tfc" bench model.tfg --mode train --batch 1 --source-length 2 --target-length 2 --steps 1 --cpu "$1" >/dev/null 2>&1; }
if grep -q '^bits  *common' version.txt && ! lacks x86-64-v3; then
    train native --steps 2 --gemm native
    "$tfc" train native --resume --steps 3 --cpu x86-64-v3 2>err || fail "another processor: $(cat err)"
    grep -q "note: the run computed on .*, and goes on on x86-64-v3, 256 bits: the bits are the same" err || fail "$(cat err)"
    [ "$("$tfc" info native | grep -c '^  on ')" = 2 ] || fail "not both processors: $("$tfc" info native)"
    "$tfc" info native | grep -q '^trained by tfc [0-9.]*, commit .*; bits: common$' || fail "$("$tfc" info native)"
    refuses 1 "bits: it was common and is now its own: the processor has no fused multiply-add" \
        "$tfc" train native --resume --steps 4 --cpu x86-64-v2
    refuses 1 "bits: it was common and is now its own: OpenBLAS computes products" \
        "$tfc" train native --resume --steps 4 --gemm blas
fi

# Folders that are no runs, and runs that are not asked for.
refuses 2 "is the folder of a run" "$tfc" train parts
refuses 2 "--resume continues parts, and -o names another run, whole" "$tfc" train parts --resume --out whole
refuses 2 "nothing to resume" "$tfc" train --resume --out nowhere
refuses 2 "nothing to resume" "$tfc" train model.tfg --vocab words:auto --resume --out nowhere
refuses 2 "expected MODEL.tfg" "$tfc" train --out new
refuses 2 "nothing to validate on" "$tfc" train model.tfg --source train.src --target train.tgt \
    --vocab words:auto --out new --validate-every 5
echo "all is well"
