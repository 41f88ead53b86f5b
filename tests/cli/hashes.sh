#!/bin/sh
# tfc train --hashes: a line a step, the same however a step is computed; tfc info --hash: one hash of the params. What
# they hash is said by a second implementation.
# Usage: hashes.sh TFC   (from the project's root)
set -eu
. tests/common.sh
. tests/published.sh
enter_work
backwards_model >model.tfg
words_backwards
train() { # train OUT …
    out=$1
    shift
    "$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --seed 3 --gemm native --out "$out" "$@" \
        2>err.txt || fail "$out: $(cat err.txt)"
}
hash_of() { "$tfc" info "$@" --hash 2>err.txt || fail "info $*: $(cat err.txt)"; }

# Hashes change nothing that is computed: in one program, of pieces, in bf16.
for how in "" "--accumulate 2" "--shards 4" "--dtype bf16"; do
    rm -rf plain hashed
    # shellcheck disable=SC2086
    train plain --steps 4 $how
    # shellcheck disable=SC2086
    train hashed --steps 4 $how --hashes lines.jsonl
    cmp plain/last.safetensors hashed/last.safetensors || fail "$how: with hashes other params"
    [ "$(hash_of plain)" = "$(hash_of hashed)" ] || fail "$how: equal params have other hashes"
    [ "$(wc -l <lines.jsonl)" = 4 ] || fail "$how: not a line a step: $(cut -c 1-80 lines.jsonl)"
    [ -z "$how" ] || [ "$(grep -o '"gradients": {[^}]*}' lines.jsonl | sort -u | wc -l)" = 4 ] ||
        fail "$how: gradients are the same at each step"
done
sed '/"command": /,/]/d' hashed/run.json | grep hashes && fail "the output stands in run.json"

# What is hashed.
train run --steps 6 --save-every 3 --keep 2 --hashes all.jsonl
"$tfc" info run --json >info.json 2>err.txt || fail "$(cat err.txt)"
/usr/bin/python3 "$root/tests/cli/hashes.py" all run/last.safetensors info.json all.jsonl || fail "another hash"
one=$(hash_of run)
echo "$one" | grep -qx '[0-9a-f]\{64\}' || fail "$one"
for what in run/last.safetensors run/step-6.safetensors "run --checkpoint last"; do
    # shellcheck disable=SC2086
    [ "$(hash_of $what)" = "$one" ] || fail "$what: another hash"
done
[ "$(hash_of run/step-3.safetensors)" != "$one" ] || fail "other params have the same hash"
"$tfc" export run -o weights.safetensors 2>err.txt || fail "$(cat err.txt)"
[ "$(hash_of weights.safetensors)" = "$one" ] || fail "what is exported has another hash"
# Of an imported run by the names of its model, as its checkpoints have them.
published_marian published
"$tfc" import published -o import 2>err.txt || fail "$(cat err.txt)"
"$tfc" train import -o frozen --source train.src --target train.tgt --freeze '**' --steps 1 2>err.txt || fail "$(cat err.txt)"
[ "$(hash_of import)" = "$(hash_of frozen)" ] || fail "an imported run has another hash than its checkpoint"
refuses 1 "published is not the folder of a run: it has no run.json" "$tfc" info published --hash
refuses 1 "model.tfg holds no params to hash" "$tfc" info model.tfg --hash
refuses 2 "--checkpoint is for --hash" "$tfc" info run --checkpoint last

# Gradients are those of the step's batch, before clipping: of the one row that there is, as tfc run computes them.
backwards_with 0 >plain.tfg <<'END'
train {
  rate      = constant(0.003)
  batch     = tokens(300)
  clip_norm = 0.1
}
END
echo "b c a d e" >one.src
echo "e d a c b" >one.tgt
"$tfc" train plain.tfg --source one.src --target one.tgt --vocab words:auto --steps 1 -o zero 2>err.txt || fail "$(cat err.txt)"
"$tfc" train zero -o first --source one.src --target one.tgt --gemm native --steps 1 --hashes first.jsonl 2>err.txt || fail "$(cat err.txt)"
/usr/bin/python3 "$root/tests/cli/hashes.py" row zero/vocab.txt one.src one.tgt row.safetensors
"$tfc" run zero --in row.safetensors --out out.safetensors --grad --gemm native 2>err.txt || fail "$(cat err.txt)"
"$tfc" info out.safetensors --json >out.json
/usr/bin/python3 "$root/tests/cli/hashes.py" gradients out.json first.jsonl || fail "other gradients than tfc run has"

# Resumed, the file has one line a step, as of a run that never stopped; lines of lost steps go.
train part --steps 3 --hashes part.jsonl
{ cat part.jsonl; sed -n 4,5p all.jsonl | sed 's/"loss": "./"loss": "x/'; printf '{"step": 6, "lo'; } >torn.jsonl
"$tfc" train part --resume --steps 6 --hashes torn.jsonl 2>err.txt || fail "$(cat err.txt)"
cmp torn.jsonl all.jsonl || fail "resumed: other lines"
echo text >text.txt
refuses 1 "text.txt: line 1 is not one that tfc train --hashes writes" "$tfc" train part --resume --steps 7 --hashes text.txt
grep -qx text text.txt || fail "what is no file of hashes was changed"

# With shards the lines do not depend on the ranks that compute them.
find_mpis
for mpi in $found; do
    train one --steps 3 --shards 8 --dtype bf16 --hashes one.jsonl
    launch "$mpi" 3 "$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --seed 3 --gemm native \
        --dtype bf16 --steps 3 --threads 1 --out ranks --hashes ranks.jsonl 2>err.txt || fail "$(cat err.txt)"
    cmp one.jsonl ranks.jsonl || fail "$mpi: three ranks have other hashes"
    break
done
echo "all is well"
