#!/bin/sh
# Batches in pieces (shards, accumulation, ranks): a loss over some labels alone weighs them as the whole batch does, and
# states are updated once a step.
# Usage: train_pieces.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

log() { sed -n "s/.*\"$1\": \([-+0-9.e]*\).*/\1/p" "$2/log.jsonl"; }
# near A B BOUND WHAT: numbers, one a line
near() {
    paste "$1" "$2" | awk -v bound="$3" -v what="$4" '
        function size(x) { return x < 0 ? -x : x }
        BEGIN { worst = 0 }
        { off = size($1 - $2) / (size($2) > 1e-3 ? size($2) : 1e-3); if (off > worst) worst = off }
        END { print what ": " NR " numbers differ by " worst; exit !(NR && worst < bound) }' || fail "$4: $(paste "$1" "$2")"
}
floats() { tensors "$1" | od -An -v -tf4 -w4; }

# What follows a Q, and nothing else: of 12 labels that count 8 are a, 2 are b and 2 are d, so ln 10 is the loss at first
# and 0.8676 nats at last. Pieces of a sentence each, some without a label.
cat >masked.tfg <<'END'
model masked
const vocab = 10
dim B, T
input tokens : token[B, T~]
param table : [vocab, vocab] = zeros
output logits = table[tokens]
labels = select(tokens == 4, next(tokens), -1)
loss = cross_entropy(logits, labels)
train { optimizer = sgd(momentum = 0); rate = constant(1); batch = sentences(12); report_every = 1 }
END
for token in '<unk>' '<s>' '</s>' '<pad>' Q a b c d e; do echo "$token"; done >words.txt
for next in "Q a" "Q a" "c d" "Q b" "c" "Q a Q a e" "Q d" "c c c c" "Q a Q a" "Q b" "Q d Q a" "Q a"; do echo "$next"; done >t.txt
train() { # train OUT …
    out=$1
    shift
    "$tfc" train masked.tfg --text t.txt --lines --vocab words.txt --valid-text t.txt --no-bleu --steps 400 --seed 1 \
        --out "$out" "$@" 2>"$out.err" || fail "$out: $(cat "$out.err")"
}
train whole
log loss whole | head -n 1 >first.txt
echo 2.302585 >expected.txt
near first.txt expected.txt 1e-5 "the first loss"
for cut in "--shards 4" "--shards 12" "--accumulate 3 --batch-sentences 4" "--accumulate 2 --batch-sentences 6 --shards 2"; do
    # shellcheck disable=SC2086
    train cut $cut
    log loss whole >a.txt
    log loss cut >b.txt
    near b.txt a.txt 1e-5 "losses with $cut"
    floats whole/last.safetensors >a.txt
    floats cut/last.safetensors >b.txt
    near b.txt a.txt 1e-4 "params with $cut"
    rm -r cut
done

# The model's own loss of a text as of one batch, beside the loss a token; the same for any batches.
log valid_model_loss whole | tail -n 1 >own.txt
echo 0.86756 >expected.txt
near own.txt expected.txt 1e-2 "the model's own loss"
grep -q "valid loss [0-9.]* (the model's own 0.8[67]" whole.err || fail "no own loss is shown: $(tail -n 3 whole.err)"
"$tfc" eval whole --text t.txt --json >eval.json || fail "eval"
number model_loss <eval.json >eval.txt
near eval.txt own.txt 1e-6 "eval's"
"$tfc" eval whole --text t.txt | grep -q "^model's loss  *0.8[67]" || fail "eval shows no own loss"

# States: a count, the mean of params over steps, and a sum over the batch's rows. Once a step; of the mean also the same
# bits, as it follows from params alone where these have the same bits.
cat >states.tfg <<'END'
model states
use transformer_pre_norm
const layers = 1, d_model = 32, heads = 4, d_ff = 64
block project(y) {
  state steps : [1] = zeros
  state mean_embedding : [vocab, d_model] = zeros
  state height : [d_model] = zeros
  update steps = steps + 1
  update mean_embedding = mean_embedding * 0.9 + stop_gradient(embedding) * 0.1
  update height = height * 0.5 + mean_of_rows(stop_gradient(y)) * 0.5
  return y @ transpose(embedding) + 0 * sum(steps)
}
train { optimizer = sgd(); rate = constant(0.1); batch = tokens(400); report_every = 1 }
END
words_backwards
backwards() { # backwards OUT …
    out=$1
    shift
    "$@" "$tfc" train states.tfg --source train.src --target train.tgt --vocab words:auto --seed 3 --steps 6 --threads "${threads:-1}" \
        --out "$out" $with 2>"$out.err" || fail "$out: $(cat "$out.err")"
}
with="--set p_drop=0"
backwards once
with="--set p_drop=0 --shards 3"
backwards thrice
with="--set p_drop=0 --accumulate 2 --batch-tokens 200"
backwards twice
cat >of.py <<'END'
import json, struct, sys
def read(path):
    b = open(path, 'rb').read(); n = struct.unpack('<Q', b[:8])[0]; h = json.loads(b[8:8 + n]); out = {}
    for name, t in h.items():
        if name != '__metadata__':
            a, z = t['data_offsets']
            out[name] = struct.unpack('<%df' % ((z - a) // 4), b[8 + n + a:8 + n + z])
    return out
a, b, exact = read(sys.argv[1]), read(sys.argv[2]), sys.argv[3] == 'exact'
states = [n for n in a if n.endswith(('steps', 'mean_embedding', 'height'))]
assert len(states) == 3 and all(a[n][0] == b[n][0] == 6 for n in states if n.endswith('steps')), states
worst = max(abs(x - y) for n in states for x, y in zip(a[n], b[n]))
assert max(map(abs, a[[n for n in states if n.endswith('height')][0]])) > 0.01
print('states differ by', worst)
assert worst == 0 if exact else worst < 1e-4
END
python3 of.py once/last.safetensors thrice/last.safetensors near || fail "three shards"
with="--set p_drop=0 --shards 3"
threads=2
backwards threads
threads=1
cmp thrice/last.safetensors threads/last.safetensors || fail "two threads"
python3 - <<'END' || fail "accumulated states are not of the batches together"
exec(open('of.py').read().split('a, b, exact')[0])
t = read('twice/last.safetensors')
assert [v[0] for n, v in t.items() if n.endswith('steps')] == [6]
END

# What cannot be: batch normalisation, whose variance is about the whole batch's mean. The loss needs it, too.
cat >norm.tfg <<'END'
model norm
use transformer_pre_norm
const layers = 1, d_model = 32, heads = 4, d_ff = 64
block project(y) { return batch_norm(y) @ transpose(embedding) }
train { rate = constant(0.001); batch = tokens(400) }
END
set -- train norm.tfg --source train.src --target train.tgt --vocab words:auto --steps 1 --out norm
refuses 1 "norm.tfg:4:27: error: .*running_[a-z]*. is updated once a step, from the whole batch" "$tfc" "$@" --shards 2
grep -q "the loss is no sum over the rows of a batch because of this" err.txt || fail "$(cat err.txt)"
refuses 1 "train with --shards 1 and --accumulate 1" "$tfc" "$@" --accumulate 2
"$tfc" "$@" 2>err.txt || fail "batch normalisation: $(cat err.txt)"
! grep -q "no sum" err.txt || fail "a note on pieces where there are none"

# The note stands alone: a warning before it, which is left out as the model is read a second time, does not take it along.
cat >weighted.tfg <<'END'
const d = 4, unused = 3
dim B
input x : float[B, d] = column("x")
input y : int[B] = column("y")
nll = reshape(-pick(log_softmax(linear as head(x, 3)), reshape(y, [B, 1])), [B])
w = stop((1 - exp(-nll)) ^ 2)
loss = sum(w * nll) / sum(w)
train { optimizer = sgd(); rate = constant(0.1); batch = sentences(8) }
END
awk 'BEGIN { for (i = 0; i < 8; i++) printf "{\"x\": [%d, 1, -1, 0.5], \"y\": %d}\n", i % 4, i % 3 }' >weighted.jsonl
"$tfc" train weighted.tfg --data weighted.jsonl --steps 1 --shards 4 --out weighted 2>err.txt || fail "$(cat err.txt)"
[ "$(grep -c "weighted.tfg:1:14: warning: nothing uses the constant" err.txt)" = 1 ] || fail "not one warning: $(cat err.txt)"
grep -q "weighted.tfg:7:8: note: the loss is no sum over the rows of a batch" err.txt || fail "no note: $(cat err.txt)"

# Ranks: the same bits, in both types.
if command -v mpirun.openmpi >/dev/null || command -v mpirun.mpich >/dev/null; then
    find_mpis
    train eight --shards 8
    launch "${found##* }" 2 "$tfc" train masked.tfg --text t.txt --lines --vocab words.txt --valid-text t.txt --no-bleu \
        --steps 400 --seed 1 --out ranks 2>err.txt || fail "$(cat err.txt)"
    cmp eight/last.safetensors ranks/last.safetensors || fail "two ranks learn otherwise"
    for dtype in f32 bf16; do
        with="--shards 8 --dtype $dtype"
        backwards one-$dtype
        with="--dtype $dtype"
        backwards two-$dtype launch "${found##* }" 2
        cmp one-$dtype/last.safetensors two-$dtype/last.safetensors || fail "states in $dtype: two ranks learn otherwise"
    done
fi
