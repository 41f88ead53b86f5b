#!/bin/sh
# tfc prepare and tfc train --prepared: the same files for any number of threads and when it was
# killed, training as from the texts and the same when it goes on, damage that is told and mended.
# Usage: prepare.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

backwards_with 0.2 >model.tfg <<'END'
train {
  optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9)
  rate      = constant(0.003)
  batch     = tokens(300)
}
END
words_backwards
pairs="--source train.src --target train.tgt --vocab words:auto"
windows="$pairs --rows-per-shard 100 --window-rows 300"
prepare() { "$tfc" prepare "$@" 2>err.txt || fail "prepare $*: $(cat err.txt)"; }
train() { "$tfc" train model.tfg --seed 3 "$@" 2>err.txt || fail "train $*: $(cat err.txt)"; }
# same_folder A B: file by file
same_folder() { diff -r "$1" "$2" >diff.txt || fail "$1 and $2 differ: $(cat diff.txt)"; }

# Any number of threads; what is there is kept.
prepare $windows --threads 1 -o one
prepare $windows --threads 3 -o three
same_folder one three
grep -q "^three: 1100 pairs of 1100 lines, .* tokens, 11 shards$" err.txt || fail "not told: $(cat err.txt)"
prepare $windows -o one
grep -q "11 shards (11 were there)" err.txt || fail "made again: $(cat err.txt)"
same_folder one three

"$tfc" info one >info.txt || fail "no info"
grep -q "^prepared data of pairs: 1100 rows of 1100 lines$" info.txt || fail "info tells: $(cat info.txt)"

# Two files in turn, or columns of one, are the same pairs.
head -n 500 train.src >a.src
head -n 500 train.tgt >a.tgt
tail -n +501 train.src >b.src
tail -n +501 train.tgt >b.tgt
paste train.src train.tgt >train.tsv
prepare --source a.src --target a.tgt --source b.src --target b.tgt --vocab words:auto --rows-per-shard 100 -o parts
prepare --data train.tsv --vocab words:auto --rows-per-shard 100 -o columns
for i in 00 03 07; do # the fields name the text
    tail -c +121 one/shard-000$i.tokens >x.ids
    for folder in parts columns; do
        tail -c +121 $folder/shard-000$i.tokens | cmp - x.ids || fail "$folder: another shard $i"
    done
done

# A translation memory; what was made of it for the moment goes.
cat >memory.tmx <<'END'
<?xml version="1.0"?>
<tmx version="1.4"><header srclang="en"/><body>
<tu><tuv xml:lang="en"><seg>a b</seg></tuv><tuv xml:lang="de"><seg>b a</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>c</seg></tuv><tuv xml:lang="de"><seg>c</seg></tuv></tu>
</body></tmx>
END
prepare --data memory.tmx --data train.tsv --languages en,de --vocab words:auto -o memory
grep -q "^memory: 1102 pairs of 1102 lines, .* tokens, 2 shards$" err.txt || fail "translation memory: $(cat err.txt)"
[ "$(ls memory | tr '\n' ' ')" = "prepared.json shard-00000.tokens shard-00001.tokens vocab.txt " ] || fail "left: $(ls memory)"
# What would be lost of one: an entity that nothing in the file defines, a second segment.
unit() { # unit DOCTYPE SOURCE
    printf '<?xml version="1.0"?>%s<tmx version="1.4"><body><tu><tuv xml:lang="en">%s</tuv>' "$1" "$2"
    printf '<tuv xml:lang="de"><seg>b</seg></tuv><seg>c</seg></tu></body></tmx>'
}
unit '<!DOCTYPE tmx SYSTEM "tmx14.dtd">' '<seg>caf&eacute;</seg>' >entity.tmx
refuses 1 "entity.tmx:1:.*: error: the entity &eacute; is defined outside of this file: write the character itself" \
    "$tfc" prepare --data entity.tmx --languages en,de --vocab words:auto -o lost
unit '' '<seg>a</seg><seg>b</seg>' >second.tmx
refuses 1 "second.tmx:1:.*: error: a second <seg> in one <tuv>: each has one" \
    "$tfc" prepare --data second.tmx --languages en,de --vocab words:auto -o lost
unit '<!DOCTYPE tmx SYSTEM "tmx14.dtd">' '<seg>a &amp; d</seg>' >fine.tmx
prepare --data fine.tmx --languages en,de --vocab words:auto -o fine
[ "$(tail -n +5 fine/vocab.txt | sort | tr '\n' ' ')" = "& a b d " ] || fail "words of a memory: $(cat fine/vocab.txt)"

# A vocabulary that is made is made again as it was.
pieces="--source train.src --source train.tgt --target train.tgt --target train.src --vocab auto:24"
prepare $pieces --rows-per-shard 200 --threads 1 -o pieces
prepare $pieces --rows-per-shard 200 --threads 3 -o pieces2
same_folder pieces pieces2

# Killed when so many shards were there, the same in the end.
awk '{ for (i = 0; i < 40; i++) print }' train.src >large.src
awk '{ for (i = 0; i < 40; i++) print }' train.tgt >large.tgt
large="--source large.src --target large.tgt --vocab words:auto --rows-per-shard 500 --threads 2"
prepare $large -o large
shards() { find killed -name 'shard-*.tokens' 2>/dev/null | wc -l; }
last=$(find large -name 'shard-*.tokens' | wc -l)
for count in 0 0 1 5 $((last / 4)) $((last / 2)) $((last - 5)) "$last"; do
    "$tfc" prepare $large -o killed 2>/dev/null &
    victim=$!
    sleep 0.02
    while [ "$(shards)" -lt "$count" ] && kill -0 $victim 2>/dev/null; do :; done
    kill -KILL $victim 2>/dev/null || :
    wait $victim 2>/dev/null || :
    [ "$(shards)" -ge "$count" ] || fail "$(shards) shards when it was killed, not $count"
done
: >killed/shard-00001.tokens.tmp-99999999
prepare $large -o killed
same_folder large killed

# In one window, training is that of the texts; with a part of one as well.
prepare $pairs --rows-per-shard 100 -o window
train --prepared window --out a --steps 40
train $pairs --out b --steps 40
same_tensors a/last.safetensors b/last.safetensors "one window is not the text"
train --prepared window --out a2 --steps 20 --shards 3 --accumulate 2 --dtype bf16
train $pairs --out b2 --steps 20 --shards 3 --accumulate 2 --dtype bf16
same_tensors a2/last.safetensors b2/last.safetensors "one window is not the text, in pieces"

# In several windows: the same bits again, on another number of threads, and gone on with.
train --prepared one --out whole --steps 60 --threads 1
train --prepared one --out again --steps 60 --threads 2
cmp whole/last.safetensors again/last.safetensors || fail "another training"
grep -q '"option": "prepared"' whole/run.json || fail "run.json does not name the data"
for steps in 7 13 19 20 21 22 28; do
    rm -rf part
    train --prepared one --out part --steps $steps
    mkdir -p elsewhere
    (cd elsewhere && "$tfc" train ../part --resume --steps 60 2>../err.txt) || fail "$(cat err.txt)"
    cmp whole/last.safetensors part/last.safetensors || fail "gone on with at step $steps"
done
"$tfc" info whole >/dev/null || fail "no info"
"$tfc" translate whole --input valid.src >out.txt || fail "no translation"
train --prepared one --out valid --steps 5 --valid-source valid.src --valid-target valid.tgt --validate-every 5
grep -q '"valid_loss"' valid/log.jsonl || fail "no validation"
"$tfc" train whole --prepared one --out tuned --steps 3 2>err.txt || fail "$(cat err.txt)"
! grep warning err.txt || fail "another vocabulary?"
prepare --source train.tgt --target train.src --vocab words:auto:6 --rows-per-shard 100 -o other
"$tfc" train whole --prepared other --out tuned2 --steps 3 2>err.txt || :
grep -q "whole has another vocabulary than" err.txt || fail "another vocabulary: $(cat err.txt)"
train --prepared one --out limited --steps 3 --memory 20M

# Lines and streams, of models with one input.
cat >lm.tfg <<'END'
model lm
use language_model
const layers = 1, d_model = 16, heads = 2, vocab = 8, context = 64
train { optimizer = adam(); rate = constant(0.003); batch = tokens(300) }
END
texts="--text train.src --vocab words:auto"
prepare $texts --lines --rows-per-shard 100 -o lines
prepare $texts --rows-per-shard 100 -o stream
prepare $texts --rows-per-shard 100 --window-rows 20 -o streams
one() { "$tfc" train lm.tfg --seed 3 --max-length 50 "$@" 2>err.txt || fail "train $*: $(cat err.txt)"; }
one --prepared lines --out c --steps 40
one $texts --lines --out d --steps 40
same_tensors c/last.safetensors d/last.safetensors "lines of one window are not the text"
one --prepared stream --out e --steps 40
one $texts --out f --steps 40
same_tensors e/last.safetensors f/last.safetensors "a stream of one window is not the text"
one --prepared streams --out g --steps 60
one --prepared streams --out h --steps 31
one --resume --out h --steps 60
cmp g/last.safetensors h/last.safetensors || fail "a stream that is gone on with"
cat >encoder.tfg <<'END'
model encoder
const vocab = 8, d_model = 8
dim B, S
input src : token[B, S~]
param table : [vocab, d_model] = normal(0, 0.5)
param out : [d_model, vocab] = normal(0, 0.5)
output y = table[src] @ out
loss = mean(y * y)
train { optimizer = adam(); rate = constant(0.003); batch = tokens(300) }
END
"$tfc" train encoder.tfg --prepared lines --out i --steps 30 2>err.txt || fail "$(cat err.txt)"
"$tfc" train encoder.tfg $texts --out j --steps 30 2>err.txt || fail "$(cat err.txt)"
same_tensors i/last.safetensors j/last.safetensors "sentences of one window are not the text"
refuses 1 "encoder.tfg reads lines, and stream is one stream" "$tfc" train encoder.tfg --prepared stream --out no
refuses 1 "lm.tfg reads one text, and one was prepared from sources and targets" \
    "$tfc" train lm.tfg --prepared one --out no
refuses 1 "reads sources and targets, and lines was prepared from one text" \
    "$tfc" train model.tfg --prepared lines --out no

# A line that is no text, and what else is wrong, by its place.
awk 'NR == 734 || NR == 933 { print "a \377 b"; next } { print }' train.src >bad.src
refuses 1 "bad.src:734:3: error: invalid UTF-8" \
    "$tfc" prepare --source bad.src --target train.tgt --vocab words:auto -o no
refuses 1 "bad.src:734:3: error: invalid UTF-8" \
    "$tfc" prepare --source bad.src --target train.tgt --vocab three/vocab.txt --rows-per-shard 100 --threads 3 -o no
refuses 1 "train.src has 1100 lines, valid.tgt has 100" \
    "$tfc" prepare --source train.src --target valid.tgt --vocab words:auto -o no
refuses 1 "train.src:1:1: error: no tab" "$tfc" prepare --data train.src --vocab three/vocab.txt -o no
refuses 1 "cannot read absent" "$tfc" prepare --text absent --vocab three/vocab.txt -o no
refuses 1 "not a regular file" "$tfc" prepare --text /dev/null --vocab three/vocab.txt -o no
: >empty.txt
refuses 1 "empty.txt (--source) has no lines" \
    "$tfc" prepare --source empty.txt --target empty.txt --vocab three/vocab.txt -o no
refuses 1 "one was prepared from other texts or in another way" \
    "$tfc" prepare $pairs --rows-per-shard 50 --window-rows 300 -o one
refuses 1 "one was prepared from other texts or in another way" "$tfc" prepare $pairs --rows-per-shard 100 -o one
same_folder one three
refuses 2 "leave --vocab out" "$tfc" train model.tfg --prepared one --vocab words:auto --out no
refuses 2 "in place of --source" "$tfc" train model.tfg --prepared one --source train.src --out no
refuses 1 "it has no prepared.json" "$tfc" train model.tfg --prepared whole --out no
refuses 2 "target is missing: --source needs it" "$tfc" prepare --source train.src --vocab words:auto -o no
refuses 2 "needed" "$tfc" prepare --vocab words:auto -o no

# Damage: told with the file, and mended.
flip() { # flip FILE PLACE
    byte=$(od -An -tu1 -j"$2" -N1 "$1" | tr -d ' ')
    printf "\\$(printf %03o $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
cp -r three hurt
size=$(wc -c <hurt/shard-00004.tokens)
for place in 3 40 125 $((size - 1)); do
    flip hurt/shard-00004.tokens "$place"
    refuses 1 "hurt/shard-00004.tokens" "$tfc" train model.tfg --prepared hurt --out hurt-"$place" --steps 60
    grep -q "makes again what is damaged" err.txt || fail "no help: $(cat err.txt)"
    prepare $windows -o hurt
    grep -q "10 were there" err.txt || fail "not one made again: $(cat err.txt)"
    same_folder three hurt
done
head -c $((size - 2)) three/shard-00004.tokens >hurt/shard-00004.tokens
refuses 1 "shard-00004.tokens: the file is cut off" "$tfc" train model.tfg --prepared hurt --out cut --steps 60
rm hurt/shard-00004.tokens
refuses 1 "cannot read .*shard-00004.tokens" "$tfc" train model.tfg --prepared hurt --out gone --steps 60
prepare $windows -o hurt
same_folder three hurt
echo zz >>hurt/vocab.txt
refuses 1 "the vocabulary is not the one that hurt was prepared with" "$tfc" train model.tfg --prepared hurt --out no
cp three/vocab.txt hurt/vocab.txt
head -c 900 three/prepared.json >hurt/prepared.json
refuses 1 "hurt/prepared.json" "$tfc" train model.tfg --prepared hurt --out no
prepare $windows -o hurt
same_folder three hurt
# Another folder is told when a run goes on.
refuses 1 "--prepared .*/window: it was .*/one with 1100 lines" "$tfc" train whole --resume --steps 70 --prepared window

# What is too long is left out, in preparing or in training.
awk 'NR % 100 == 7 { print $0, $0, $0, $0, $0, $0, $0, $0; next } { print }' train.src >long.src
prepare --source long.src --target train.tgt --vocab words:auto --max-length 12 --rows-per-shard 100 -o short
grep -q "11 of 1100 lines left out that are longer than 12 tokens" err.txt || fail "$(cat err.txt)"
prepare --source long.src --target train.tgt --vocab words:auto --rows-per-shard 100 -o long
train --prepared short --out short-run --steps 12
train --prepared long --out long-run --steps 12 --max-length 12
same_tensors short-run/last.safetensors long-run/last.safetensors "left out in training"
refuses 1 "no row of at most 2 tokens" "$tfc" train model.tfg --prepared long --out no --max-length 2
echo "prepare: the same files, the same training"
