#!/bin/sh
# Shards: a batch cut into pieces has the gradient of the whole, the same bits for any number of
# threads and when a run goes on, and takes less memory.
# Usage: train_shards.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

backwards_with 0 >model.tfg <<'END'
train {
  optimizer    = sgd()
  rate         = constant(0.5)
  batch        = tokens(400)
  report_every = 1
}
END
words_backwards
train() { # train OUT …
    out=$1
    shift
    "$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --out "$out" \
        --seed 3 "$@" 2>"$out.err" || fail "$out: $(cat "$out.err")"
}
losses() { sed -n 's/.*"loss": \([0-9.]*\),.*/\1/p' "$1/log.jsonl"; }
# near A B: losses of all steps
near() {
    losses "$1" >a.txt
    losses "$2" >b.txt
    paste a.txt b.txt | awk -v what="$1 and $2" '
        { off = ($1 - $2) / $1; if (off < 0) off = -off; if (off > worst) worst = off }
        END { print what ": losses of " NR " steps differ by " worst; exit !(NR == 20 && worst < 1e-5) }' ||
        fail "$1 and $2 learn otherwise"
}

# The gradient of the whole; 1,000 pieces are more than a batch has sentences.
train one --steps 20
for shards in 2 3 8 1000; do
    train cut$shards --steps 20 --shards $shards
    near one cut$shards
done
[ "$(losses one | head -n 1)" != "$(losses one | tail -n 1)" ] || fail "nothing is learnt"
train two --steps 20 --accumulate 2
train cut_two --steps 20 --accumulate 2 --shards 3
near two cut_two

# The model says how many; the same bits on one thread and two, and after a pause.
sed 's/^train {/train {\n  shards = 3/; s/p_drop = 0/p_drop = 0.2/' model.tfg >cut.tfg
mv cut.tfg model.tfg
train whole --steps 12 --threads 1
train threads --steps 12 --threads 2
same_tensors whole/last.safetensors threads/last.safetensors "two threads"
train parts --steps 5
"$tfc" train --resume --out parts --steps 12 2>err || fail "$(cat err)"
same_tensors whole/last.safetensors parts/last.safetensors "resumed"
refuses 1 "batch: it was 400 tokens, 3 shards and is now 400 tokens, 2 shards" \
    "$tfc" train --resume --out parts --steps 12 --shards 2
refuses 2 "shards" "$tfc" train model.tfg --shards 0 --out no
refuses 2 "shards" "$tfc" train model.tfg --shards 2000 --out no

# "… and optimizer, 1.9 MB of activations": in MB
values() { sed -n 's/.*optimizer, \([0-9.]*\) MB of activations.*/\1/p' "$1.err"; }
train large --steps 1 --shards 1 --batch-tokens 4000
train small --steps 1 --shards 8 --batch-tokens 4000
echo "$(values large) MB of activations in one piece, $(values small) MB in eight"
awk "BEGIN { exit !($(values small) < 0.4 * $(values large)) }" || fail "pieces take as much memory"

# A param that the loss does not depend on is none of them.
{ cat model.tfg; cat <<'END'; } >other.tfg
param aside : [8] = ones
output other = sum(aside * aside)
END
"$tfc" train other.tfg --source train.src --target train.tgt --vocab words:auto --out other --seed 3 --steps 2 \
    --shards 3 2>err || fail "$(cat err)"
