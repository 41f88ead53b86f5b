#!/bin/sh
# The page docs/published.md as it stands, on a small model: import, fine-tune, translate, give
# back, compile, call from C and Python. Minutes are made steps.
# Usage: published.sh TFC   (from the project's root)
set -eu
. tests/common.sh
. tests/published.sh
enter_work
export OMP_NUM_THREADS=1
page=$root/docs/published.md

words_backwards
published_marian opus
# What the page takes as given.
paste train.src train.tgt | head -n 1000 >ours.tsv
paste train.src train.tgt | tail -n 100 >general.tsv
paste valid.src valid.tgt | head -n 50 >valid.tsv
paste valid.src valid.tgt | tail -n 50 >general_valid.tsv
head -n 20 valid.src >text.src
head -n 20 valid.tgt >text.tgt

# block LANGUAGE: the page's blocks of that language.
block() { awk -v open="\`\`\`$1" '$0 == open { inside = 1; next } /^```/ { inside = 0 } inside' "$page"; }
block c >say.c
block python >say.py
{ echo 'set -eu'; block sh | sed 's/--minutes 5/--steps 60/'; } >page.sh
command -v python3 >/dev/null || sed -i '/^python3/d' page.sh
[ "$(grep -c '^tfc ' page.sh)" -ge 7 ] || fail "the page has other commands"
PATH=$(dirname "$tfc"):$PATH sh page.sh >out.txt 2>err.txt || fail "$(cat err.txt)"

cmp -s text.before text.after && fail "fine-tuning changes nothing"
cmp -s text.after text.said || fail "the C program answers otherwise: $(diff text.after text.said)"
[ "$(wc -l <say.c)" -lt 30 ] || fail "the C program is long"
cmp -s opus/config.json given/config.json || fail "config.json was not given back"
"$tfc" info opus/model.safetensors | grep f32 >was.txt
"$tfc" info given/model.safetensors | grep f32 | cmp -s - was.txt || fail "other tensors were given back"
grep -q BLEU out.txt || fail "no BLEU: $(cat out.txt)"
[ ! -e text.python ] || cmp -s text.after text.python || fail "the Python program answers otherwise"
echo "published: the page does what it says"
