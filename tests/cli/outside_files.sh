#!/bin/sh
# The files that the model of a run, an imported folder or an index of shards names lie in that folder: whatever leads out of
# it, `..`, an absolute path or a link, is refused by name, unless --allow-outside permits it. A run has copies of all files
# that its model uses. What import copies and export publishes lies in the folder, or in the blobs of a hub.
# Usage: outside_files.sh TFC   (from the project's root)
set -eu
. tests/common.sh
. tests/published.sh
enter_work
work=$(pwd -P)

# ---- what a training copies into its run ----
mkdir -p project/sub shared up_ elsewhere
{ printf 'text\tlabel\n'; for i in 1 2 3 4 5 6 7 8; do printf 'a b c\tpos\nb d e\tneg\n'; done; } >t.tsv
printf 'pos\nneg\n' >project/labels.txt
cat >project/m.tfg <<M
model m
use "../shared/blocks.tfg"
use "$work/elsewhere/named.tfg"
use "sub/model.tfg"
use "model.tfg"
dim B, S
const vocab = 30, classes = 2
input text : token[B, S~] = column("text")
input label : int[B] = column("label")
vocab label = words("labels.txt")
param e : [vocab, 8] = normal(0, 0.1)
logits = linear as head(reshape(mean(named(e[text]), 1), [B, 8]), classes)
loss = cross_entropy(logits, label)
predict class = softmax(logits)
train { rate = constant(0.01); batch = tokens(300) }
M
printf 'use "../up_/deep.tfg"\nblock again(x) { return deep(x) }\n' >shared/blocks.tfg
echo 'block deep(x) { return x * 1.5 }' >up_/deep.tfg
echo 'block named(x) { return again(inner(beside(x))) }' >elsewhere/named.tfg
echo 'block inner(x) { return x + 0.5 }' >project/sub/model.tfg
echo 'block beside(x) { return 2 * x }' >project/model.tfg
train() { "$tfc" train "$@" --data t.tsv 2>err.txt || fail "train $*: $(cat err.txt)"; }
train project/m.tfg --vocab words:auto --steps 2 --out run
! grep -q warning err.txt || fail "a training warns: $(cat err.txt)"
echo 'a b c' >text
said() { "$tfc" predict "$@" --only class <text 2>err.txt || fail "$* $(cat err.txt)"; }
said run >want
mkdir -p gone far/away
mv shared up_ elsewhere project gone
cp -r run far/away
said far/away/run | cmp - want || fail "a run that was moved gives other predictions"
train far/away/run --resume --steps 3
train run --out next --steps 2
[ "$(cd run && find . -name '*.tfg' | sort)" = "$(cd next && find . -name '*.tfg' | sort)" ] || fail "a run of a run has other files: $(find next)"
mv gone/* .
mkdir runs
cp -r run project/old # as runs were before they had copies: the files are still there
rm -r project/old/used
sed -i '/"used\//d' project/old/run.json
refuses 1 "cannot read project/old/../shared/blocks.tfg: there is no such file" "$tfc" predict project/old --only class
mkdir project/shared && cp shared/blocks.tfg project/shared && cp -r up_ project
sed -i 's/^use "model.tfg"/use "..\/model.tfg"/' project/old/model.tfg
refuses 1 "cannot read project/old/../shared/blocks.tfg: it is $work/project/shared/blocks.tfg, outside the folder project/old" \
    "$tfc" predict project/old --only class
grep -q "project/old/model.tfg:2:5: note: used here" err.txt || fail "$(cat err.txt)"
said project/old --allow-outside | cmp - want || fail "a run without copies gives other predictions"

# ---- what a run's model names ----
# evil SED: `evil` is the run with another model.tfg
evil() {
    rm -rf evil never
    cp -r run evil
    sed "$1" run/model.tfg >evil/model.tfg
}
outside="outside the folder evil: put a copy into the folder, or permit it by --allow-outside"
# used PATH: instead of a block's file
used() {
    evil "s|^use \"model.tfg\"|use \"$1\"|"
    case "$1" in link.tfg) ln -s ../beside.tfg evil/link.tfg ;; linked/*) ln -s .. evil/linked ;; esac
    refuses 1 "cannot read .*: it is $work/beside.tfg, $outside" "$tfc" predict evil --only class
    grep -q "evil/model.tfg:5:5: note: used here" err.txt || fail "$1: $(cat err.txt)"
    said evil --allow-outside | cmp - want || fail "$1: --allow-outside gives other predictions"
}
cp project/model.tfg beside.tfg
for path in ../beside.tfg "$work/beside.tfg" sub/../../beside.tfg link.tfg linked/beside.tfg; do used "$path"; done
refuses 1 "cannot read evil/linked/beside.tfg: it is $work/beside.tfg, $outside" "$tfc" check evil/model.tfg

# learnt SED FILE ALLOWED: what a training reads
learnt() {
    evil "$1"
    case "$2" in evil/link) ln -s ../secret.txt evil/link ;; esac
    refuses 1 "cannot read $2: it is $work/.*, $outside" "$tfc" train evil --out never --data t.tsv --steps 1
    [ ! -e never ] || fail "$1: a run was begun"
    [ "$3" ] || return 0
    train evil --out never --steps 1 --allow-outside
    ! sed -n '/"arguments"/,/]/p' never/run.json | grep -q allow-outside || fail "a run allows what was allowed once"
}
printf 'pos\nneg\n' >secret.txt
learnt 's|"labels.txt"|"../secret.txt"|' evil/../secret.txt yes
learnt "s|\"labels.txt\"|\"$work/secret.txt\"|" "$work/secret.txt" ""
learnt 's|"labels.txt"|"link"|' evil/link ""
"$tfc" export run -o params.safetensors 2>err.txt || fail "$(cat err.txt)"
learnt 's|normal(0, 0.1)|load("../params.safetensors", "e")|' evil/../params.safetensors yes
evil 's/^vocab label.*/&\nvocab text = own("words:..\/words.txt")/; s/vocab = 30/text_vocab = 9/; s/\[vocab, 8\]/[text_vocab, 8]/'
cp run/vocab.txt words.txt
cp run/labels-label.txt evil/labels.txt
refuses 1 "cannot read evil/../words.txt: it is $work/words.txt, $outside" "$tfc" train evil/model.tfg --out never --data t.tsv --steps 1
train evil/model.tfg --out never --steps 1 --allow-outside

# a record permits nothing
evil "s|^use \"model.tfg\"|use \"../beside.tfg\"|"
sed -i 's/"arguments": \[/&\n    "--allow-outside",/' evil/run.json
refuses 1 "evil/run.json.*--allow-outside" "$tfc" train evil --resume --steps 3

# ---- the files of a run ----
# linked NAME COMMAND: the file of the run is a link that leads out of it
linked() {
    name=$1
    shift
    evil ''
    mv "evil/$name" away
    ln -s "$work/away" "evil/$name"
    refuses 1 "cannot read evil/$name: it is $work/away, $outside" "$tfc" "$@"
    "$tfc" "$@" --allow-outside >/dev/null 2>err.txt || fail "$name: $(cat err.txt)"
    rm "evil/$name"
    mkfifo "evil/$name"
    refuses 1 "evil/$name: not a regular file" timeout 10 "$tfc" "$@"
}
for name in run.json model.tfg vocab.txt labels-label.txt lib/prelude.tfg used/from/up/shared/blocks.tfg; do linked $name predict evil --input text --only class; done
linked log.jsonl report evil -o page.html
linked model.tfg report evil -o page.html

# ---- what is written into a run ----
list_turned() { (cd turned && find . -type f -exec cksum {} + | sort); }
# turned FOLDER COMMAND: the folder of the run is a link that leads out of it, where nothing is written or removed
turned() {
    name=$1
    shift
    refuses 1 "cannot make the folder evil/$name: it is a symbolic link, which is not followed here: remove it" "$tfc" "$@"
    list_turned | cmp - listed || fail "$name: files outside are others"
}
# There, what is left of a process that has ended: in a run it is removed.
left=prelude.tfg.tmp-999999999-abcdefghijkl
for name in lib used/from used; do
    evil ''
    rm -rf turned evil/*.safetensors # a run that was begun, and has no checkpoint yet
    mv "evil/$name" turned
    : >turned/$left
    list_turned >listed
    ln -s "$work/turned" "evil/$name"
    turned $name train run --out evil --steps 1 --data t.tsv
    turned $name train run --out evil --steps 1 --data t.tsv --allow-outside
done
evil ''
: >evil/lib/$left
: >evil/used/from/$left
train evil --resume --steps 3
[ ! -e evil/lib/$left ] && [ ! -e evil/used/from/$left ] || fail "left: $(find evil -name '*.tmp-*')"

# ---- an index of shards; weights alone may be links ----
# shard FILE: an index that names it
shard() { printf '{"weight_map": {"e": "%s", "head.weight": "%s", "head.bias": "%s"}}' "$1" "$1" "$1" >weights/model.safetensors.index.json; }
mkdir weights
shard part.safetensors
ln -s ../params.safetensors weights/part.safetensors
refuses 1 "cannot read weights/part.safetensors: it is $work/params.safetensors, outside the folder weights" "$tfc" train run --out never --data t.tsv --steps 1 --weights weights
rm -rf never
train run --out never --steps 1 --weights weights --allow-outside
for path in ../params.safetensors "$work/params.safetensors"; do
    shard "$path"
    refuses 1 "the file of \"e\" is $path, which does not lie beside the index: put it there, or permit it by --allow-outside" "$tfc" train run --out never2 --data t.tsv --weights weights
done
rm -rf never
train run --out never --steps 1 --weights weights --allow-outside
rm -r weights
mkdir weights
ln -s ../params.safetensors weights/model.safetensors
rm -rf never
train run --out never --steps 1 --weights weights

# ---- a published folder ----
words_backwards
published_marian published
leaks() { # leaks NAME: a link out of the folder
    rm -rf model
    cp -r published model
    rm -f "model/$1"
    ln -s ../secret.txt "model/$1"
    refuses 1 "cannot read .*/model/$1: it is $work/secret.txt, outside the folder .*model" "$tfc" import model -o never3
    [ ! -e never3 ] || fail "$1: a run is left"
}
for name in special_tokens_map.json config.json source.spm vocab.json generation_config.json; do leaks $name; done
leaks special_tokens_map.json
"$tfc" import model -o taken --allow-outside 2>err.txt || fail "$(cat err.txt)"
# a hub: the files are links to blobs
mkdir -p hub/models--x--y/snapshots/1234 hub/models--x--y/blobs
for name in config.json source.spm target.spm vocab.json model.safetensors; do
    cp published/$name hub/models--x--y/blobs/of-$name
    ln -s ../../blobs/of-$name hub/models--x--y/snapshots/1234/$name
done
"$tfc" import hub/models--x--y/snapshots/1234 -o imported 2>err.txt || fail "a folder of a hub: $(cat err.txt)"
head -n 2 valid.src | "$tfc" translate imported >/dev/null 2>err.txt || fail "$(cat err.txt)"
"$tfc" import hub/models--x--y/snapshots/1234/model.safetensors -o alone 2>err.txt || fail "a file of a hub: $(cat err.txt)"
mkdir -p hub/models--x--z/blobs
mv hub/models--x--y/blobs/of-vocab.json hub/models--x--z/blobs
ln -sf ../../../models--x--z/blobs/of-vocab.json hub/models--x--y/snapshots/1234/vocab.json
refuses 1 "cannot read .*/vocab.json: it is .*/models--x--z/blobs/of-vocab.json, outside the folder" "$tfc" import hub/models--x--y/snapshots/1234 -o never3
# what --copy leaves: a shard that does not lie beside its index
cp -r published split
mkdir split/sub
mv split/model.safetensors split/sub
python3 - <<'END'
import json, struct
data = open("split/sub/model.safetensors", "rb").read()
names = json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])
json.dump({"weight_map": {name: "sub/model.safetensors" for name in names if name != "__metadata__"}},
          open("split/model.safetensors.index.json", "w"))
END
refuses 1 "split/sub/model.safetensors does not lie beside the index that names it, and --copy copies such files alone: put it there, or leave --copy out to link to the weights" \
    "$tfc" import split -o never3 --copy --allow-outside
[ ! -e never3 ] || fail "a run is left"
# what is copied into a run that is trained from it
"$tfc" train imported --out kept --source valid.src --target valid.tgt --steps 1 2>err.txt || fail "$(cat err.txt)"
mv kept evil_kept
rm -rf turned
mv evil_kept/published turned
ln -s "$work/turned" evil_kept/published
list_turned >listed
rm evil_kept/*.safetensors
refuses 1 "cannot make the folder evil_kept/published: it is a symbolic link, which is not followed here: remove it" \
    "$tfc" train imported --out evil_kept --source valid.src --target valid.tgt --steps 1
list_turned | cmp - listed || fail "files outside are others"
# what export publishes
ln -s ../../secret.txt imported/published/special_tokens_map.json
refuses 1 "cannot read imported/published/special_tokens_map.json: it is $work/secret.txt, outside the folder imported" "$tfc" export imported --format hf -o given
[ ! -e given ] || fail "something is published"
rm imported/published/special_tokens_map.json
mv imported/published private
ln -s ../private imported/published
for format in hf marian; do
    refuses 1 "cannot read imported/published/config.json: it is $work/private/config.json, outside the folder imported" "$tfc" export imported --format $format -o given
    [ ! -e given ] || fail "something is published"
done
"$tfc" export imported --format hf -o given --allow-outside 2>err.txt || fail "$(cat err.txt)"
[ -z "$(find given -type l)" ] || fail "links are published: $(find given -type l)"

# ---- prepared data ----
"$tfc" prepare --source train.src --target train.tgt --vocab words:auto --rows-per-shard 500 -o ready >/dev/null 2>err.txt || fail "$(cat err.txt)"
[ -e ready/shard-00001.tokens ] || fail "there is one shard: $(ls ready)"
backwards_model >backwards.tfg
learn() { timeout 60 "$tfc" train backwards.tfg --prepared ready --steps 1 --out never4 "$@"; }
for name in vocab.txt shard-00001.tokens prepared.json; do
    mv ready/$name away
    mkfifo ready/$name
    refuses 1 "ready/$name: not a regular file" learn
    rm -rf ready/$name never4
    mv away ready/$name
done
for name in vocab.txt prepared.json; do
    mv ready/$name away
    ln -s ../away ready/$name
    refuses 1 "$name: it is $work/away, outside the folder .*ready" learn
    learn --allow-outside 2>err.txt || fail "$(cat err.txt)"
    rm -rf ready/$name never4
    mv away ready/$name
done
ln -sf "$work/all.src" ready/prepared.json
refuses 1 "prepared.json: it is $work/all.src, outside the folder ready" "$tfc" info ready
echo "outside_files: what leads out of a folder is refused"
