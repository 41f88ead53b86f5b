#!/bin/sh
# What tfc says of models that load, or nearly, and cannot do what is asked: of their constants, numbers and losses.
# Usage: model_mistakes.sh TFC   (from the project's root)
set -eu
. tests/common.sh
cd "$work"
unset TFC_LIBRARY
for i in 1 2 3 4 5 6 7 8; do echo "a b c $i"; done >t.txt

refuse() { # refuse PART COMMAND …: tfc COMMAND fails, and says PART
    part=$1
    shift
    status=0
    "$tfc" "$@" >out.txt 2>err.txt </dev/null || status=$?
    [ $status = 1 ] || fail "tfc $*: exit status $status, not 1: $(cat err.txt)"
    grep -qF -- "$part" err.txt || fail "tfc $*: no '$part' in: $(cat err.txt)"
}
train() { # train MODEL RUN OPTION …
    model=$1 run=$2
    shift 2
    "$tfc" train "$model" --text t.txt --lines --vocab words:auto --out "$run" "$@" >out.txt 2>err.txt || fail "$run: $(cat err.txt)"
}

# A text that is no model, and no IR: one message, whatever its lines are like.
for command in "check t.txt" "draw t.txt --what graph -o a.svg" "train t.txt --text t.txt --lines --vocab words:auto --out x"; do
    # shellcheck disable=SC2086
    refuse 't.txt: error: not a model (.tfg): no line of it is a statement of one' $command
    [ "$(wc -l <err.txt)" = 1 ] || fail "tfc $command: more than one line: $(cat err.txt)"
done
refuse 't.txt:1:1: error: expected `module` and its name in quotes, which IR begins with' opt t.txt
: >empty.tfg
refuse 'empty.tfg: error: the file is empty' info empty.tfg

# The size of the vocabulary: a const that the model lacks, and one that a run was trained with.
sized() { # sized CONST: a model whose table has so many rows
    cat <<M
model sized
const $1 = 30, d = 4
dim B, T
input tokens : token[B, T~]
param e : [$1, d] = normal(0, 0.02)
output logits = e[tokens] @ transpose(e)
loss = cross_entropy(logits, next(tokens))
M
}
sized n >n.tfg
sized vocab >m.tfg
refuse 'n.tfg: error: the model needs `const vocab`, which is set to the size of the vocabulary' \
    train n.tfg --text t.txt --lines --vocab words:auto --out x
refuse '--set d:1:1: error: expected a number, not `abc`' dump m.tfg --set d=abc
refuse '--set d:1:1: error: expected a number, not `true`' dump m.tfg --set d=true
refuse '; did you mean `vocab`?' dump m.tfg --set d=vocb
"$tfc" dump m.tfg --set d=vocab >out.txt || fail "a constant by another"
train m.tfg run --steps 2
head -n 7 run/vocab.txt >cut && cp cut run/vocab.txt
refuse 'run/vocab.txt is not the vocabulary that the run was trained with' generate run
# A run of an earlier version, whose record knows no files.
sed -i 's/"files": {/"unknown": {/' run/run.json
refuse 'run was trained with a vocabulary of 15 tokens, as its run.json says (vocab), but its vocabulary has 7' generate run

# A loss that predicts nothing; a product of positions that are not masked.
sized vocab | sed 's/next(tokens)/tokens/' >same.tfg
train same.tfg same --steps 1
refuse 'same: the loss of its model reads no next(…), so it predicts no token' generate same --prompt a
sized vocab | sed 's/^output.*/x = e[tokens]; y = softmax(x @ transpose(x)) @ x; output logits = y @ transpose(e)/' >sees.tfg
train sees.tfg sees --steps 1
refuse 'model.tfg:6:20: error: softmax depends on later positions, so the model cannot decode token by token: it runs over the positions, and nothing shows that its operand is -inf where the key comes after the query, as in `mask(scores, causal(T))`' \
    generate sees --prompt a

# The first NaN, at its place in the text: in a region of its own, and computed with a product.
sized vocab | sed 's/e\[tokens\]/log(&)/' >log.tfg
sized vocab | sed 's/e\[tokens\]/sqrt(linear as inner(&, d))/' >root.tfg
nan() { # nan MODEL PLACE REASON OPTION …
    model=$1 place=$2 reason=$3
    shift 3
    refuse "$model:$place: error: step 1: the first NaN was made by '" train "$model" --text t.txt --lines --vocab words:auto --out x --check-numerics "$@"
    grep -qF "$reason of a number below 0 is one" err.txt || fail "$model: $(cat err.txt)"
}
nan log.tfg 6:17 'the logarithm'
nan log.tfg 6:17 'the logarithm' --shards 2
nan log.tfg 6:17 'the logarithm' --dtype bf16
nan root.tfg 6:17 'the root'
"$tfc" check log.tfg >out.txt 2>&1 && fail "check: a loss of no number passes"
grep -q 'no finite loss on .*; tfc train --check-numerics names the operation' out.txt || fail "check: $(cat out.txt)"

# A run's copy of the library, in part and whole.
printf 'use language_model\nconst vocab = 30, layers = 1, d_model = 4, heads = 1, context = 8\n' >lm.tfg
train lm.tfg lm --steps 1
rm lm/lib/language_model.tfg
refuse "lm/lib/language_model.tfg, a file of the run, is missing: restore it from a copy" generate lm --prompt a
sed -i 's/"files": {/"unknown": {/' lm/run.json # a record of an earlier version
refuse "lm/model.tfg:1:5: error: lm/lib/language_model.tfg, of the run's copy of the library, is missing" generate lm --prompt a
rm -r lm/lib
refuse "error: lm/lib, the run's copy of the library, is missing: put back what tfc train wrote" generate lm --prompt a
[ "$(wc -l <err.txt)" = 1 ] || fail "more than one line: $(cat err.txt)"
echo "all is well"
