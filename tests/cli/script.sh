#!/bin/sh
# tfc compile --emit js and html: the package under Node and the page in a browser give the tokens of tfc
# translate; requests that are wrong; models and files that cannot be a page.
# Usage: script.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

shared_runs
ln -s "$runs/translator" run
ln -s "$runs/generator" speak

# Mistakes are told before anything is compiled.
refuses 1 "needs weights and a vocabulary" "$tfc" compile "$runs/translator.tfg" -o no.html
refuses 1 "makes WebAssembly: leave --target out" "$tfc" compile run -o no.html --target aarch64-linux-gnu
refuses 1 "no C compiler 'clang-19'.*clang-19, lld-19" env PATH=/nowhere "$tfc" compile run -o no.html
refuses 1 "no C compiler 'clang-19'" env PATH=/nowhere "$tfc" compile run --emit js -o no
for emit in so obj llvm bc; do
    refuses 1 "store bf16 is for pages and packages" "$tfc" compile run --store bf16 --emit $emit -o no.so
done
[ ! -e no.html ] && [ ! -e no.so ] && [ -z "$(ls -d no.html.* 2>/dev/null)" ] || fail "something is left behind"

missing=
for need in clang-19 wasm-ld-19 node; do command -v $need >/dev/null || missing="$missing $need"; done
[ -e /usr/include/wasm32-wasi ] || missing="$missing wasi-libc"
[ -z "$missing" ] || { echo "skipped: there is no$missing"; exit 77; }

"$tfc" compile run --emit js -o package 2>err || fail "$(cat err)"
"$tfc" compile speak --emit js --name spoken -o speaker 2>err || fail "$(cat err)"
grep -q '"name": "spoken"' speaker/package.json && grep -q 'import {load} from "spoken"' speaker/README.md || fail "the package's name"
[ -n "$short" ] || "$tfc" compile run -o page.html 2>err || fail "$(cat err)"
head -n 200 all.src >some.src
"$tfc" translate run --input some.src --beam 4 --output wanted
"$tfc" translate run --input some.src --beam 4 --nbest 3 --output wanted.nbest
"$tfc" generate speak --prompt 'a b' --temperature 0 --tokens 8 >wanted.spoken
"$tfc" translate run --input some.src --beam 4 --nbest 3 --attention --json --output wanted.json
node "$root/tests/cli/script.mjs" package speaker some.src wanted wanted.nbest wanted.spoken wanted.json || fail "the package"
for package in package speaker; do node "$root/tests/cli/script_arguments.mjs" $package || fail "arguments of $package"; done
if [ -n "$short" ]; then
    echo "the package under Node: all is well"
    exit 0
fi
in_browsers "$root/tests/cli/script_page.mjs" page.html some.src wanted wanted.json

# A list that letters share with sounds is one of letters, too.
for part in train valid; do sed 's/a/aa/g; s/b/th/g' $part.tgt >$part.sounds; done
"$tfc" train "$runs/translator.tfg" --source train.src --target train.sounds --vocab words:auto --out sounds --steps 2 --no-bleu 2>err ||
    fail "$(cat err)"
"$tfc" compile sounds --name said -o sounds.html 2>err || fail "$(cat err)"
grep -q '"title": "said"' sounds.html || fail "the page's title"
grep -q '"letters": true, "lower": true' sounds.html || fail "words are not taken apart"

# What has no attention over a source shows none, and says so.
"$tfc" compile speak -o speak.html 2>err || fail "$(cat err)"
"$tfc" compile run --with run --emit js -o both 2>err || fail "$(cat err)"
grep -q '"attends": true' page.html && grep -q 'function startPair' page.html && grep -q '"attends": false' speak.html && ! grep -q 'function startPair' speak.html ||
    fail "attention in a page of a language model"
grep -q 'attention?: Attention' package/index.d.ts && ! grep -q attention speaker/index.d.ts both/index.d.ts ||
    fail "types of attention"
node --input-type=module -e '
    const model = await (await import(process.argv[1])).load()
    try { model.nbest("a b", 1, {attention: true}) } catch (error) { console.log(error.message) }
' "$work/both/index.js" | grep -q "compiled without the function .alignment" || fail "attention of an ensemble"

# Rounded params: tokens and scores are those of a checkpoint that numpy rounded.
"$tfc" compile run --store bf16 -o rounded.html 2>err || fail "$(cat err)"
"$tfc" compile run --store bf16 --emit js -o rounded 2>err || fail "$(cat err)"
[ $(($(wc -c <rounded.html) * 10)) -lt $(($(wc -c <page.html) * 9)) ] || fail "a page of rounded params is not smaller"
python=$(python_with_numpy)
if [ -n "$python" ]; then
    "$python" "$root/tests/cli/script_round.py" run/last.safetensors rounded.safetensors
    translate_rounded() { "$tfc" translate run --checkpoint rounded.safetensors --input some.src --beam 4 "$@" 2>err || fail "$(cat err)"; }
    translate_rounded --output rounded.wanted
    translate_rounded --nbest 3 --output rounded.nbest
    translate_rounded --nbest 3 --attention --json --output rounded.json
    ! cmp -s wanted.nbest rounded.nbest || fail "rounding changes no score"
    node "$root/tests/cli/script.mjs" rounded speaker some.src rounded.wanted rounded.nbest wanted.spoken rounded.json || fail "the package of rounded params"
    in_browsers "$root/tests/cli/script_page.mjs" rounded.html some.src rounded.wanted rounded.json
else
    echo "rounded params were not compared: no numpy"
fi

# Quantised runs: texts are those of tfc translate, and scores, but where another processor's last bit is another integer.
export WITHIN=0.05
for dtype in int8 int4; do
    "$tfc" quantize run --dtype $dtype -o $dtype >/dev/null
    "$tfc" compile $dtype -o $dtype.html 2>err || fail "$(cat err)"
    [ $(($(wc -c <$dtype.html) * 10)) -lt $(($(wc -c <page.html) * 9)) ] || fail "a page in $dtype is not smaller"
    "$tfc" compile $dtype --emit js -o $dtype.package 2>err || fail "$(cat err)"
    quantised() { "$tfc" translate $dtype --input some.src --beam 4 "$@" 2>err || fail "$(cat err)"; }
    quantised --output $dtype.wanted
    quantised --nbest 3 --output $dtype.nbest
    quantised --nbest 3 --attention --json --output $dtype.json
    ! cmp -s wanted.nbest $dtype.nbest || fail "$dtype changes no score"
    node "$root/tests/cli/script.mjs" $dtype.package speaker some.src $dtype.wanted $dtype.nbest wanted.spoken $dtype.json ||
        fail "the package of a run in $dtype"
    in_browsers "$root/tests/cli/script_page.mjs" $dtype.html some.src $dtype.wanted $dtype.json
done
echo "all is well"
