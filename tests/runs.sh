#!/bin/sh
# Trains the runs that tests of commands share, seconds each, into a folder beside the program (common.sh: shared_runs).
# Does nothing where they are newer than the program and this file.
#
#   translator/   words backwards, encoder and decoder of 2 layers of 32, 4 heads; texts of at most 20 tokens
#   generator/    the same lines, a language model of 1 layer of 32, 2 heads, 16 positions, a text a line
#   pronouncer/   letters to words: a vocabulary a side (chars and words), 1 layer of 32
#   {train,valid,all}.{src,tgt}   the lines (words_backwards); letters.src: train.src without blanks
#
# Usage: runs.sh TFC FOLDER   (from the project's root)
set -eu
. tests/common.sh
mkdir -p "$2"
into=$(realpath "$2")
exec 9>"$into.lock"
flock 9
[ ! -e "$into/made" ] || [ -n "$(find "$tfc" "$root/tests/runs.sh" -newer "$into/made")" ] || exit 0
rm -rf "$into"
mkdir "$into"
cd "$into"
export TFC_LIBRARY="$root/models/lib"

words_backwards
tr -d ' ' <train.src >letters.src
cat >translator.tfg <<'END'
model translator
use transformer
const layers = 2, d_model = 32, d_ff = 64, heads = 4, vocab = 8, p_drop = 0
train { rate = constant(0.003); batch = tokens(400); max_length = 20 }
END
cat >generator.tfg <<'END'
model generator
use language_model
const vocab = 8, layers = 1, d_model = 32, heads = 2, context = 16
train { rate = constant(0.01); batch = tokens(400); max_length = context }
END
cat >pronouncer.tfg <<'END'
model pronouncer
use transformer
use source_embedding
const vocab = 8, layers = 1, d_model = 32, d_ff = 64, heads = 2, p_drop = 0
train { rate = inverse_sqrt(peak = 0.01, warmup = 40); batch = tokens(600); max_length = 64 }
END
train() { # train RUN OPTION …
    run=$1
    shift
    "$tfc" train "$run.tfg" --out "$run" --seed 3 "$@" 2>err || fail "$(cat err)"
}
train translator --source train.src --target train.tgt --vocab words:auto --steps 60 --no-bleu
train generator --text train.src --lines --vocab words:auto --steps 30
train pronouncer --source letters.src --target train.tgt --source-vocab chars:auto --vocab words:auto --steps 60 --no-bleu
rm err
: >made
