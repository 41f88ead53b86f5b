#!/bin/sh
# tfc compile --emit js and html of a model that generates texts from columns: the package under Node and the page in a
# browser give what tfc translate gives.
# Usage: script_columns.sh TFC   (from the project's root)
set -eu
. tests/common.sh
fixtures=$root/tests/fixtures/columns
enter_work
missing=
for need in clang-19 wasm-ld-19 node; do command -v $need >/dev/null || missing="$missing $need"; done
[ -e /usr/include/wasm32-wasi ] || missing="$missing wasi-libc"
[ -z "$missing" ] || { echo "skipped: there is no$missing"; exit 77; }

awk 'BEGIN { srand(4); split("ein zwei drei vier acht", w, " ")
     for (i = 0; i < 200; i++) { a = marks = frames = ""; n = 1 + int(rand() * 3); k = int(rand() * 3)
     for (x = 0; x < n; x++) { s = x ? " " : ""; a = a s w[1 + int(rand() * 5)]; marks = marks s substr("NVAD", 1 + int(rand() * 4), 1)
     frames = frames (x ? ", " : "") "[" rand() ", " k "]" }
     printf("{\"frames\": [%s], \"a\": \"%s\", \"kind\": \"%s\", \"marks\": \"%s\", \"weight\": %g, \"c\": \"%s at %d\"}\n",
         frames, a, k ? k > 1 ? "long" : "</script><b>" : "*/", marks, (1 + k) / 4, toupper(a), k) } }' >all.jsonl
head -n 180 all.jsonl >train.jsonl
tail -n 20 all.jsonl >valid.jsonl
"$tfc" train "$fixtures/mixed.tfg" --data train.jsonl --vocab words:auto --out mixed --steps 40 --validate-every 0 2>err || fail "$(cat err)"
"$tfc" translate mixed --input valid.jsonl --json >wanted
"$tfc" compile mixed --emit js -o package 2>err || fail "$(cat err)"
grep -q '"frames": Numbers;' package/index.d.ts && grep -q '"kind": string;' package/index.d.ts || fail "no types of records"
node --input-type=module - package/index.js valid.jsonl wanted <<'END' || fail "the package"
import assert from "node:assert/strict";
import {readFileSync, writeFileSync} from "node:fs";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";
const [folder, ...files] = process.argv.slice(2);
const [rows, wanted] = files.map(file => readFileSync(file, "utf8").trimEnd().split("\n").map(line => JSON.parse(line)));
const model = await (await import(pathToFileURL(resolve(folder)))).load();
const records = rows.map(({frames, a, kind, marks, weight}) => ({frames, src: a, kind, mark: marks, weight}));
const found = model.answers(records);
assert.equal(found.length, wanted.length);
found.forEach(({line, text, score}, i) => {
  assert.deepEqual([line, text], [i, wanted[i].text]);
  assert.ok(Math.abs(score - wanted[i].score) < 1e-4, `${score}, not ${wanted[i].score}`);
});
assert.equal(model.translate(records[3]), wanted[3].text);
assert.equal(model.nbest(records[3], 2).length, 2);
assert.equal(model.translate({...records[0], frames: records[0].frames.flat()}), wanted[0].text);
assert.equal(model.translate({...records[0], frames: Float32Array.from(records[0].frames.flat()), other: [1]}), wanted[0].text);
assert.deepEqual(model.answers([]), []);
for (const [change, message] of [[{kind: "none"}, /'none' is none of the 3 labels/], [{kind: 1}, /'1' is none of the 3 labels of `kind`/],
  [{frames: [1, 2, 3]}, /has 3 numbers, and `frames` takes 2 for each position/], [{weight: "x"}, /'x' is no number/],
  [{weight: [1, 2]}, /has 2 numbers, and `weight` takes 1/], [{weight: null}, /the field 'weight' is null/], [{kind: undefined}, /has no field 'kind'/]])
  assert.throws(() => model.translate({...records[0], ...change}), message);
assert.throws(() => model.translate("a text"), /record: expected an object, not a string/);
assert.throws(() => model.translate({}), /record 0: the record has no field 'frames'/);
assert.throws(() => model.translate(records[0], {what: 1}), /no setting 'what'/);
assert.equal(model.translate(records[0]), wanted[0].text);
writeFileSync("record.json", JSON.stringify(records[0]));
END
node "$root/tests/cli/script_arguments.mjs" package record.json || fail "arguments of the package"
grep -q 'model.translate(record)' package/README.md || fail "the package's page"
# Numbers that are looked up have the rows of their tables.
cat >sizes.tfg <<'END'
model sizes
const vocab = 1000, d = 8
dim B, T
input size : int[B, 2] = column("size")
input tgt : token[B, T~] = column("c")
param large : [5, d] = normal(0, 0.3)
param small : [2, d] = normal(0, 0.3)
param words : [vocab, d] = normal(0, 0.3)
a, b = split(size, 2)
output logits = linear as head(words[tgt] + shift(words[tgt], T) + large[a] + small[b], vocab)
loss = cross_entropy(logits, next(tgt))
train { rate = constant(0.01); batch = tokens(256) }
END
awk '{ print "{\"size\": [" NR % 5 ", " NR % 2 "], \"c\": \"" (NR % 2 ? "odd" : "even") "\"}" }' train.jsonl >sizes.jsonl
"$tfc" train sizes.tfg --data sizes.jsonl --vocab words:auto --out sizes --steps 3 2>err || fail "$(cat err)"
"$tfc" compile sizes --emit js -o sizes-package 2>err || fail "$(cat err)"
node --input-type=module - sizes-package <<'END' || fail "sizes in the package"
import assert from "node:assert/strict";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";
const model = await (await import(pathToFileURL(resolve(process.argv[2], "index.js")))).load();
assert.equal(typeof model.translate({size: [4, 1]}), "string");
assert.throws(() => model.translate({size: [5, 1]}), /record 0: 5 is not from 0 to 4, as `size` must be/);
assert.throws(() => model.answers([{size: [4, 1]}, {size: [0, 2]}]), /record 1: 2 is not from 0 to 1, as `size` must be/);
assert.throws(() => model.translate({size: [-1, 1]}), /-1 is not from 0 to 4, as `size` must be/);
END
"$tfc" compile mixed -o page.html 2>err || fail "$(cat err)"
! grep -q '</script><b>' page.html || fail "a label ends the page's data"
in_browsers "$root/tests/cli/script_columns.mjs" page.html valid.jsonl wanted
echo "all is well"
