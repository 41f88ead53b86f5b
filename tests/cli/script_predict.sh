#!/bin/sh
# tfc compile --emit js and html of a model that predicts: the package under Node and the page in a browser predict what
# tfc predict does.
# Usage: script_predict.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
missing=
for need in clang-19 wasm-ld-19 node; do command -v $need >/dev/null || missing="$missing $need"; done
[ -e /usr/include/wasm32-wasi ] || missing="$missing wasi-libc"
[ -z "$missing" ] || { echo "skipped: there is no$missing"; exit 77; }

cat >reader.tfg <<'END'
model reader
const vocab = 16, classes = 3, d = 16
dim B, S
input text : token[B, S~] = column("text")
input kind : int[B] = column("kind")
vocab kind = words
param embedding : [vocab, d] = normal(0, 1)
x = embedding[text]
logits = linear as head(reshape(mean(x, 1), [B, d]), classes)
loss = cross_entropy(logits, kind)
predict class = softmax(logits)
predict token = softmax(x)
predict sum = sum(x * x, -1)
train { rate = constant(0.01); batch = tokens(300); max_length = 12; optimizer = adam(0.9, 0.98) }
END
awk 'BEGIN { srand(5); print "text\tkind"
     for (i = 0; i < 200; i++) { n = 1 + int(rand() * 6); s = "";
     for (k = 0; k < n; k++) s = s (k ? " " : "") "word" substr("abcdefgh", 1 + int(rand() * 8), 1);
     print s "\t" (n < 3 ? "short one" : n < 5 ? "middle" : "long \"one\"") } }' >all.tsv
sed '1d; s/\t.*//' all.tsv | head -n 60 >lines
"$tfc" train reader.tfg --data all.tsv --vocab words:auto --out reader --steps 30 2>err || fail "$(cat err)"
"$tfc" predict reader --input lines --json --top 1000 >wanted 2>err || fail "$(cat err)"

# same_package FOLDER LINES WANTED MOST: the package predicts what tfc predict wrote, on numbers that may differ by MOST
same_package() {
    node --input-type=module - "$1/index.js" "$2" "$3" "$4" <<'END' || fail "the package $1"
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";
const [folder, ...files] = process.argv.slice(2, -1), most = Number(process.argv.at(-1));
const [lines, wanted] = files.map(file => readFileSync(file, "utf8").replace(/\n$/, "").split("\n"));
const model = await (await import(pathToFileURL(resolve(folder)))).load();
function same(found, told) {
  if (typeof told === "number")
    assert.ok(Math.abs(found - told) <= most * Math.max(1, Math.abs(told)), `${found}, not ${told}`);
  else if (typeof told === "object") {
    assert.deepEqual(Object.keys(found), Object.keys(told));
    Object.keys(told).forEach(key => same(found[key], told[key]));
  } else
    assert.equal(found, told);
}
assert.equal(lines.length, wanted.length);
lines.forEach((text, i) => {
  const {line, ...told} = JSON.parse(wanted[i]);
  assert.equal(line, i);
  same(model.predict(text), told);
});
END
}
"$tfc" compile reader --emit js -o package 2>err || fail "$(cat err)"
same_package package lines wanted 1e-5
node --input-type=module - package/index.js lines <<'END' || fail "the package's settings"
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";
const [folder, file] = process.argv.slice(2), lines = readFileSync(file, "utf8").trimEnd().split("\n");
const model = await (await import(pathToFileURL(resolve(folder)))).load();
lines.forEach(text => assert.deepEqual(model.tokens(text).slice(0, -1), text.split(" ")));
assert.deepEqual(model.predict(lines[0], {top: 1}).class, model.predict(lines[0]).class.slice(0, 1));
for (const [settings, message] of [[{top: 0}, /top: expected a whole number of at least 1/], [{top: 1.5}, /top: expected/],
  [{beam: 2}, /no setting 'beam'/]])
  assert.throws(() => model.predict("worda", settings), message);
assert.deepEqual(model.predict_text(lines.slice(0, 9)), lines.slice(0, 9).map(text => model.predict(text)));
assert.deepEqual(model.predict_text(lines[0], {top: 1}), model.predict(lines[0], {top: 1}));
const told = [], {warn} = console;
console.warn = note => told.push(note);
model.predict("worda nobody wordb");
assert.deepEqual([model.unknown().unknown, model.unknown().note, told.length], [1, told[0], 1]);
console.warn = warn;
assert.throws(() => model.predict("a\0b"), /a NUL in a string/);
assert.equal(model.predict("worda ".repeat(30)).sum.length, 12);
END
node "$root/tests/cli/script_arguments.mjs" package || fail "arguments of the package"
if [ -z "$short" ]; then
# Labels of CTC: best path, beam, words.
sed 's/^model.*/model speller/; s/^dim.*/dim B, S, T/; s/kind : int\[B\]/kind : int[B, T~]/; /^predict/d; /^loss/d
    s/reshape(mean(x, 1), \[B, d\])/x/; /^logits/a loss = ctc_loss(logits, kind)\npredict label = softmax(logits)' reader.tfg >speller.tfg
awk -F '\t' 'NR == 1 { print; next } { split($1, w, " "); s = ""; for (k = 1; k in w; k++) if (w[k] != w[k - 1])
     s = s (k > 1 ? " " : "") (w[k] < "worde" ? "low" : "high"); gsub(/low( low)+/, "low", s); gsub(/high( high)+/, "high", s)
     print $1 "\t" s }' all.tsv >spelt.tsv
"$tfc" train speller.tfg --data spelt.tsv --vocab words:auto --out speller --steps 30 2>err || fail "$(cat err)"
printf 'low\nlow high\nhigh\n' >words
"$tfc" compile speller --emit js -o spells 2>err || fail "$(cat err)"
for settings in '{}' '{"beam": 4}' '{"beam": 4, "top": 2}' '{"beam": 4, "lexicon": "low\nlow high\nhigh\n"}'; do
    options=$(printf '%s' "$settings" | sed 's/[{}",]//g; s/\(top\|beam\): /--\1 /g; s/lexicon: .*/--lexicon words/')
    # shellcheck disable=SC2086  # words
    "$tfc" predict speller --input lines --json $options >found 2>err || fail "$(cat err)"
    node --input-type=module - spells/index.js lines found "$settings" <<'END' || fail "the package of labels, $settings"
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";
const [folder, lines, found, settings] = process.argv.slice(2);
const model = await (await import(pathToFileURL(resolve(folder)))).load();
const texts = readFileSync(lines, "utf8").trimEnd().split("\n"), wanted = readFileSync(found, "utf8").trimEnd().split("\n");
texts.forEach((text, i) => {
  const told = JSON.parse(wanted[i]).label, said = model.predict(text, JSON.parse(settings)).label;
  assert.deepEqual(said.map(([labels]) => labels), told.map(([labels]) => labels));
  said.forEach(([, logarithm], k) => assert.ok(Math.abs(logarithm - told[k][1]) < 1e-4));
});
assert.throws(() => model.predict("worda", {lexicon: "what"}), /line 1 of lexicon: 'what' is no label of label/);
assert.throws(() => model.predict("worda", {beam: 0}), /beam: expected a whole number/);
END
done
fi
grep -q 'predict(text: string, settings?: Settings)' package/index.d.ts || fail "types"
grep -q 'model.predict(' package/README.md || fail "the package's page"
# Pieces of a tokenizer.json, in many scripts, which the module cuts without utf8proc; an encoder as it is published, as a
# package, as C and as a page.
published_minilm minilm
"$tfc" import minilm -o vectors 2>err || fail "$(cat err)"
printf 'ab cab\nface  bead\n\n\303\200B f\303\251d, \344\270\255a\n\304\260ab b!cab\n' >texts
"$tfc" predict vectors --input texts --json >vectors.json 2>err || fail "$(cat err)"
"$tfc" compile vectors --emit js -o minilm.js 2>err || fail "$(cat err)"
[ ! -s err ] || fail "$(cat err)"
same_package minilm.js texts vectors.json 1e-6
if [ -z "$short" ]; then
    grep -v '^$' "$root/tests/text/scripts.txt" >scripts
    awk 'BEGIN { print "text\tkind" } { gsub(/\t/, " "); print $0 "\t" (length($0) < 40 ? "short" : NR % 2 ? "long" : "odd") }' scripts >of.tsv
    sed 's/max_length = 12/max_length = 200/' reader.tfg >pieces.tfg
    "$tfc" train pieces.tfg --data of.tsv --vocab "$root/tests/hf/cases/bert.json" --out pieces --steps 5 2>err || fail "$(cat err)"
    "$tfc" predict pieces --input scripts --json --top 1000 >of.json 2>err || fail "$(cat err)"
    "$tfc" compile pieces --emit js -o of.js 2>err || fail "$(cat err)"
    same_package of.js scripts of.json 1e-5
    "$tfc" compile vectors -o minilm.c 2>err || fail "$(cat err)"
    cc -O2 -ffp-contract=off -fopenmp-simd -pthread "$root/tests/cli/compile_predict.c" minilm.c -o minilm.exe -I. -DHEADER='"minilm.h"' \
        -DNAME=minilm -lm || fail "the C file"
    ./minilm.exe <texts >found || fail "the program"
    node -e 'const [a, b] = process.argv.slice(1).map(f => require("fs").readFileSync(f, "utf8").trim().split("\n").map(JSON.parse));
        a.forEach(({vector}, i) => vector.forEach((x, k) => { if (!(Math.abs(x - b[i].vector[k]) < 1e-6)) throw [i, k, x, b[i].vector[k]] }))' \
        vectors.json found || fail "the C file"
    "$tfc" compile vectors -o vectors.html 2>err || fail "$(cat err)"
    grep -v '^$' texts >typed
    grep -v '"line": 2' vectors.json >typed.json
    in_browsers "$root/tests/cli/script_predict.mjs" vectors.html typed typed.json
    "$tfc" train pieces.tfg --data of.tsv --vocab "$root/tests/hf/cases/llama3.json" --out llama --steps 1 2>err || fail "$(cat err)"
    refuses 1 "--emit js: the tokenizer.json has regular expressions, which are put inside" "$tfc" compile llama --emit js -o no
fi
if [ -z "$short" ]; then
    "$tfc" compile reader -o page.html 2>err || fail "$(cat err)"
    in_browsers "$root/tests/cli/script_predict.mjs" page.html lines wanted
fi
echo "all is well"
