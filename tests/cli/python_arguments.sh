#!/bin/sh
# The Python module of a compiled model: every argument of every function, given what is no such value, is an error that
# names it, and the model answers as before; arrays of any layout and byte order are read as they are.
# Usage: tests/cli/python_arguments.sh TFC
set -eu
. tests/common.sh
python=$(python_with_numpy)
[ -n "$python" ] || { echo "skipped: no Python with numpy"; exit 77; }
enter_work
export PYTHONDONTWRITEBYTECODE=1
for i in 1 2 3 4 5 6 7 8; do echo "a b c $i"; done >t.txt
cat >m.tfg <<'M'
model m
use transformer
const vocab = 30, layers = 1, d_model = 8, d_ff = 8, heads = 1
train { batch = tokens(300); max_length = 20 }
M
train() { "$tfc" train "$@" --vocab words:auto --steps 2 2>err.txt || fail "$(cat err.txt)"; }
# compiled RUN NAME OPTION …
compiled() {
    run=$1 name=$2
    shift 2
    "$tfc" compile "$run" -o "lib$name.so" "$@" 2>err.txt || fail "$run: $(cat err.txt)"
}
train m.tfg --source t.txt --target t.txt --out run
compiled run m --function forward,loss,encode,decode_step,train_step,alignment

# A text with a class and numbers; labels of CTC.
cat >reader.tfg <<'M'
model reader
const vocab = 16, classes = 3, d = 8
dim B, S
input text : token[B, S~] = column("text")
input kind : int[B] = column("kind")
vocab kind = words
param embedding : [vocab, d] = normal(0, 1)
x = embedding[text]
logits = linear as head(reshape(mean(x, 1), [B, d]), classes)
loss = cross_entropy(logits, kind)
predict class = softmax(logits)
predict sum = sum(x * x, -1)
train { rate = constant(0.01); batch = tokens(300); max_length = 12; optimizer = adam(0.9, 0.98) }
M
sed 's/^model.*/model speller/; s/^dim.*/dim B, S, T/; s/kind : int\[B\]/kind : int[B, T~]/; /^predict/d; /^loss/d
    s/reshape(mean(x, 1), \[B, d\])/x/; /^logits/a loss = ctc_loss(logits, kind)\npredict label = softmax(logits)' reader.tfg >speller.tfg
{ printf 'text\tkind\n'; for i in 1 2 3; do printf 'a b c\tlow high\nb c a\thigh\n'; done; } >all.tsv
train reader.tfg --data all.tsv --out reader
compiled reader reader
train speller.tfg --data all.tsv --out speller
compiled speller speller

models="m reader speller"
if [ -z "$short" ]; then
    # Prompts; records of arrays, labels and texts.
    printf 'model speak\nuse language_model\nconst vocab = 8, layers = 1, d_model = 8, heads = 1, context = 16\ntrain { batch = tokens(400); max_length = context }\n' >speak.tfg
    train speak.tfg --text t.txt --out speak
    compiled speak speak
    awk 'BEGIN { print "place\ta\tframes\tkind\tmarks\tweight\tc"
         for (i = 0; i < 12; i++) print i % 3 "\ta b\t[0.5, 1, 2, 3]\t" (i % 2 ? "q" : "r") "\tN V\t0.25\tc " i % 4 }' >mixed.tsv
    train "$root/tests/fixtures/columns/mixed.tfg" --data mixed.tsv --out mixed --validate-every 0
    compiled mixed mixed
    models="$models speak mixed"
fi
for model in $models; do
    PYTHONPATH=. "$python" "$root/tests/cli/python_arguments.py" "$model" || fail "arguments of $model"
done
echo "all is well"
