#!/bin/sh
# Ensembles (--with RUN): of a run with itself, of runs of several sizes, of language models, and of
# runs that cannot be averaged. Usage: ensemble.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

words_backwards
model() { # model NAME D_MODEL
    cat >"$1.tfg" <<END
model $1
use transformer
const layers = 1, d_model = $2, d_ff = 64, heads = 2, vocab = 8
const p_drop = 0
train {
  rate  = inverse_sqrt(peak = 0.02, warmup = 10)
  batch = tokens(400)
}
END
}
model narrow 16
model wide 32
run() { # run NAME MODEL SEED [OPTION…]
    name=$1 of=$2 seed=$3
    shift 3
    "$tfc" train "$of.tfg" --source train.src --target train.tgt --valid-source valid.src \
        --valid-target valid.tgt --vocab words:auto --steps 60 --seed "$seed" --out "$name" "$@" \
        2>err.txt || fail "$(cat err.txt)"
}
run one narrow 1
run two wide 2

# same_results FILE FILE WHAT: the same texts, and scores as near as floats are
same_results() {
    paste -d '\n' "$1" "$2" | sed 's/[{}",]/ /g' | awk '
        function off(a, b) { return a - b > 2e-5 || b - a > 2e-5 }
        NR % 2 { n = split($0, a, " "); next }
        { if (split($0, b, " ") != n) exit 1
          for (i = 1; i <= n; i++)
              if (a[i] != b[i] && (a[i] !~ /^-?[0-9.e-]+$/ || off(a[i], b[i]))) exit 1 }
        END { if (!NR) exit 1 }' || fail "$3"
}

# With itself, once or twice: the run.
for way in "--beam 1" "--beam 3 --nbest 3" "--sample --seed 3 --nbest 2" "--prefix valid.src"; do
    "$tfc" translate one $way --json --input valid.src >alone.txt
    "$tfc" translate one --with one $way --json --input valid.src >with.txt
    same_results alone.txt with.txt "with itself, $way"
    "$tfc" translate one --with one --with one $way --json --input valid.src >with.txt
    same_results alone.txt with.txt "with itself twice, $way"
done
# … but for the model's own loss, which an ensemble has not.
figures() { "$tfc" eval "$@" --source valid.src --target valid.tgt --json | sed 's/"model_loss": [^,]*, *//'; }
figures one >alone.txt
figures one --with one >with.txt
same_results alone.txt with.txt "eval with itself"

# Two runs: whatever the order, the batches and the threads; no worse than the mean of the two losses.
"$tfc" translate one --with two --json --input valid.src >both.txt
"$tfc" translate two --with one --json --input valid.src >turned.txt
same_results both.txt turned.txt "the order of the runs matters"
"$tfc" translate one --with two --json --input valid.src --batch-tokens 9 >other.txt
same_results both.txt other.txt "batches matter"
"$tfc" translate one --with two --json --input valid.src --threads 1 | cmp -s - both.txt ||
    fail "threads matter"
"$tfc" translate one --json --input valid.src | cmp -s - both.txt && fail "--with changes nothing"
for runs in one two "one --with two"; do
    figures $runs | number loss
done | awk '{ loss[NR] = $1 } END { exit !(NR == 3 && loss[3] < (loss[1] + loss[2]) / 2) }' ||
    fail "the mean is worse than the runs"

# What the search says of its results is what eval finds of them.
"$tfc" translate one --with two --input valid.src >found.txt
"$tfc" eval one --with two --source valid.src --target found.txt --json >figures.txt
[ "$(wc -l <both.txt)" = 100 ] || fail "a result a line"
sed -n 's/.*"log_probability": -\([0-9.]*\).*/\1/p' both.txt |
    awk -v loss="$(number loss <figures.txt)" -v tokens="$(number tokens <figures.txt)" '
        { sum += $1 } END { d = sum - loss * tokens; exit !(d < 1e-3 && d > -1e-3) }' ||
    fail "eval and translate disagree: $(cat figures.txt)"

"$tfc" score one --with two --source valid.src --target found.txt >given.txt
sed -n 's/.*"log_probability": \(-[0-9.e-]*\).*/\1/p' both.txt | paste - given.txt |
    awk '{ d = $1 - $2; if (d > 1e-4 || d < -1e-4) exit 1 } END { exit NR != 100 }' ||
    fail "score and translate disagree"

# Language models: with itself the run, and one with another between the two.
for seed in 1 2; do
    "$tfc" train "$root/models/gpt.tfg" --text train.src --vocab chars:auto --steps 20 --batch-tokens 256 \
        --set layers=1 --set d_model=16 --set heads=2 --set context=32 --seed $seed --out lm$seed 2>err.txt ||
        fail "$(cat err.txt)"
done
for way in "--temperature 0" "--seed 4"; do
    "$tfc" generate lm1 $way --tokens 40 --prompt "a b" >alone.txt
    "$tfc" generate lm1 --with lm1 $way --tokens 40 --prompt "a b" | cmp -s - alone.txt ||
        fail "generate with itself, $way"
done
"$tfc" eval lm1 --with lm2 --text valid.src >/dev/null || fail "eval of two language models"
refuses 1 "one and lm1 cannot be averaged: one is a model of pairs" \
    "$tfc" translate one --with lm1 --input valid.src

# Compiled: the same texts and scores, of two runs and of one twice.
run three narrow 3
run four narrow 4
results() { # results PROGRAM HOW…
    program=$1
    shift
    "./$program" "$@" <valid.src | sed 's/ ||| / /g'
}
expected() { # expected OTHERS HOW…
    others=$1
    shift
    "$tfc" translate one $others "$@" --input valid.src | sed 's/ ||| / /g'
}
levels=
[ "$(uname -m)" != x86_64 ] || levels="--cpu x86-64-v2,x86-64-v3"
for others in "--with three --with four" "--with one --with three"; do
    "$tfc" compile one $others -o both $levels 2>err.txt || fail "$(cat err.txt)"
    for way in "--beam 1" "--beam 4 --nbest 3" "--sample --seed 3 --nbest 2"; do
        results both $way >compiled.txt
        expected "$others" $way >with.txt
        same_results compiled.txt with.txt "compiled, $others, $way"
        TFC_CPU_LEVEL=2 results both $way >compiled.txt
        same_results compiled.txt with.txt "compiled, $others, $way, for another processor"
    done
done
refuses 1 "3 models are inside, whose mean is taken" ./both --weights one/best.safetensors
"$tfc" compile one --with three -o libboth.so 2>err.txt || fail "$(cat err.txt)"
grep -q "2 models are inside" narrow.h || fail "the header does not tell"
grep -q "the mean of 2 models" narrow.py || fail "the Python module does not tell"
if command -v python3 >/dev/null; then
    python3 - >said.txt <<'END' || fail "the library from Python"
import narrow
model = narrow.Model()
print(model.translate_text(open("valid.src").read()), end="")
for refused in (lambda: narrow.Model("one/best.safetensors"), lambda: narrow.Model(seed=1),
                lambda: model.save("saved.safetensors")):
    try:
        refused()
    except narrow.Error as error:
        assert "2 models are inside" in str(error), error
    else:
        raise SystemExit("not refused")
END
    "$tfc" translate one --with three --input valid.src | cmp - said.txt || fail "the library says otherwise"
fi
"$tfc" compile lm1 --with lm2 -o lm 2>err.txt || fail "$(cat err.txt)"
head -n 3 valid.src >prompts.txt
./lm --temperature 0 --tokens 40 <prompts.txt >compiled.txt || fail "a compiled ensemble of language models"
"$tfc" generate lm1 --with lm2 --temperature 0 --tokens 40 --input prompts.txt | cmp - compiled.txt ||
    fail "language models, compiled"
refuses 1 "one and two are other models, in their sizes or ops" "$tfc" compile one --with two -o no
refuses 1 "an ensemble decodes, it has no function 'forward'" \
    "$tfc" compile one --with three --function forward,decode_step -o no.so
refuses 1 "needs the function decode_step or predict" "$tfc" compile one --with three --function forward -o no.so
refuses 1 "text holds code alone: leave --with out" "$tfc" compile one --with three -o no.ll
refuses 1 "the first model needs a vocabulary" \
    "$tfc" compile narrow.tfg --set vocab=12 --weights one/best.safetensors --with three -o no

# Runs that cannot be averaged.
sed 's/a/z/g' train.tgt >z.tgt
"$tfc" train narrow.tfg --source train.src --target z.tgt --vocab words:auto --steps 1 --seed 1 --out words \
    2>err.txt || fail "$(cat err.txt)"
refuses 1 "one and words cannot be averaged: their vocabularies" \
    "$tfc" translate one --with words --input valid.src
refuses 1 "one and words cannot be averaged: their vocabularies" "$tfc" compile one --with words -o no
run rules wide 2 --token source-end=none
refuses 1 "one and rules cannot be averaged: their vocabularies, or the rules of their tokens" \
    "$tfc" eval one --with rules --source valid.src --target valid.tgt
refuses 1 "no.such" "$tfc" translate one --with no.such --input valid.src
