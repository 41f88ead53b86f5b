#!/bin/sh
# tfc train --prepared FOLDER --mix: prepared data and texts that are mixed into prepared data train as texts do where each
# is one window, the same after an interruption and by any number of threads otherwise; folders that do not go together.
# Usage: prepare_mix.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

backwards_with 0.2 >model.tfg <<'END'
train {
  rate  = constant(0.003)
  batch = tokens(300)
}
END
words_backwards
paste train.src train.tgt >all.tsv
head -n 400 all.tsv >main.tsv
sed -n 401,550p all.tsv >more.tsv
tail -n 7 all.tsv >few.tsv
prepare() { "$tfc" prepare "$@" 2>err.txt || fail "prepare $*: $(cat err.txt)"; }
train() { # RUN OPTIONS…
    run=$1
    shift
    "$tfc" train model.tfg --seed 3 --out "$run" "$@" 2>err.txt || fail "train $*: $(cat err.txt)"
}
prepare --data main.tsv --vocab words:auto --window-rows 1000 --rows-per-shard 100 -o main
for part in more few; do prepare --data $part.tsv --vocab main --rows-per-shard 40 -o $part; done

# One window each: the bits of texts, over epochs and rounds; parts in memory, too.
train texts --data main.tsv --vocab main/vocab.txt --mix more.tsv:0.3 --mix few.tsv:0.1 --steps 50
train folders --prepared main --mix more:0.3 --mix few:0.1 --steps 50
same_tensors texts/last.safetensors folders/last.safetensors "prepared data is mixed in otherwise than its text"
train both --prepared main --mix more.tsv:0.3 --mix few:0.1 --steps 50
same_tensors texts/last.safetensors both/last.safetensors "a text is mixed into prepared data otherwise"
train again --prepared main --mix more:0.3 --mix few:0.1 --steps 20
mkdir elsewhere
(cd elsewhere && "$tfc" train ../again --resume --steps 50 2>../err.txt) || fail "not resumed: $(cat err.txt)"
cmp folders/last.safetensors again/last.safetensors || fail "a mix that is resumed"
train other --prepared main --mix more:0.4 --mix few:0.1 --steps 50
! cmp -s folders/last.safetensors other/last.safetensors || fail "the weight makes no difference"
grep -q '"mix": "0.3, 0.1"' folders/run.json || fail "run.json does not name the weights"
grep -q "\"sha256\": \"$(sha256sum more/prepared.json | cut -d' ' -f1)\"" folders/run.json || fail "run.json does not name the folder"

# Windows in main data and parts, more rows of a part than it has.
prepare --data main.tsv --vocab main --rows-per-shard 30 --window-rows 120 -o windows
prepare --data more.tsv --vocab main --rows-per-shard 20 --window-rows 50 -o parts
mix="--prepared windows --mix parts:0.7 --mix few:2.5 --mix more.tsv:0.2"
# shellcheck disable=SC2086  # words
{
    train whole $mix --steps 60 --threads 1
    train threads $mix --steps 60 --threads 2
    cmp whole/last.safetensors threads/last.safetensors || fail "threads make a difference"
    for steps in 1 7 33 50; do
        rm -rf part
        train part $mix --steps $steps
        "$tfc" train part --resume --steps 60 2>err.txt || fail "not resumed: $(cat err.txt)"
        cmp whole/last.safetensors part/last.safetensors || fail "resumed at step $steps"
    done
    train shards $mix --steps 20 --shards 4 --threads 1
    train shards2 $mix --steps 20 --shards 4 --threads 2
    cmp shards/last.safetensors shards2/last.safetensors || fail "shards"
}

# What is another folder than it was; what does not go together.
prepare --data main.tsv --vocab main --rows-per-shard 20 -o changed
mv parts was
mv changed parts
refuses 1 "mix" "$tfc" train part --resume --steps 61
rm -r parts
mv was parts
no() { refuses 1 "$1" "$tfc" train model.tfg --prepared main --out no --mix "$2"; }
tr a x <few.tsv >other.tsv
prepare --data other.tsv --vocab words:auto -o otherwise
no "otherwise: its vocabulary has .* tokens, .*, and that of .*main 12 tokens, .*: prepare it with --vocab .*main" otherwise:1
prepare --text train.src --lines --vocab main -o lines
no "lines: it was prepared from .*, and .*main from " lines:1
no "expected FILE:WEIGHT" more
no "expected FILE:WEIGHT" more:0
no "cannot read none" none:1
no "cannot read elsewhere" elsewhere:1
: >no.tsv
no "no.tsv .* has no lines" no.tsv:1
refuses 1 "more: prepared data is mixed into prepared data alone" \
    "$tfc" train model.tfg --data main.tsv --vocab main/vocab.txt --mix more:1 --out no
prepare --text train.src --vocab main -o stream
cat >lm.tfg <<'END'
model lm
use language_model
const layers = 1, d_model = 16, d_ff = 32, heads = 2, vocab = 8
train { optimizer = adam(); rate = constant(0.003); batch = tokens(300) }
END
refuses 1 "stream is one stream without --lines" "$tfc" train lm.tfg --prepared stream --mix stream:1 --out no
cp -r more hurt
printf x | dd of=hurt/shard-00001.tokens bs=1 seek=200 conv=notrunc 2>/dev/null
refuses 1 "hurt/shard-00001.tokens" "$tfc" train model.tfg --prepared main --out no --mix hurt:1 --steps 60
echo "train --prepared --mix: as texts, resumed, refused"
