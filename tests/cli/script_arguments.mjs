// Each argument of each function of a package of tfc compile --emit js, given values that are none: errors that name it, none of
// them a crash of the module or an answer; afterwards answers are as before. A new function has to be put into the tables.
// Usage: node script_arguments.mjs PACKAGE [RECORD.json]   (a record that it takes)
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";

const [folder, recordFile] = process.argv.slice(2);
const {load, ...others} = await import(pathToFileURL(resolve(folder, "index.js")));
const model = await load(), record = recordFile ? JSON.parse(readFileSync(recordFile, "utf8")) : null;

const nothing = [undefined, null, 5, 0, NaN, true, Symbol("a"), 5n, () => "a", new Date(), /a/, new Map()];
const noText = [...nothing, [], ["a"], {}, new String("a"), new Uint8Array([97]), Buffer.from("a")];
const noObject = [undefined, null, 5, NaN, true, "a", Symbol("a"), 5n, () => ({}), [], [{}], new Uint8Array([97])];
const noCount = [undefined, null, 0, -1, 1.5, NaN, Infinity, "2", true, [2], {}, 2n, new Number(2)];
const noRecord = [...noObject, {}, new Map(), new Date()];
const noRecords = [...noObject.filter(value => !Array.isArray(value) || value.length), {}, "a", [null], [undefined], [5], ["a"], [[record]], [record, null], [, record], new Array(2)];
const bad = {
  text: [...noText, "a\0b"],
  texts: [...nothing, {}, new String("a"), new Uint8Array([97]), Buffer.from("a"), [["a"]], [5], ["a", null], "a\0b", ["a\0b"]],
  record: noRecord,
  records: noRecords,
  count: noCount,
  settings: [...noObject.slice(1), {nothing: 1}, {text: "b", more: 1}, ...["beam", "top"].flatMap(name =>
    [null, NaN, Infinity, -1, 0, 1.5, "2", [2], {}, 2n, () => 2, Symbol("a"), 2 ** 64].map(value => ({[name]: value})))],
};
// Arguments of each function, and what it takes rightly.
const translating = record ? [record, 2] : ["a b", 2];
const functions = {
  answers: record ? [["records", [record]], ["settings", {}]] : [["text", "a b\nb"], ["settings", {}]],
  translate: [[record ? "record" : "text", translating[0]], ["settings", {}]],
  translate_text: [["texts", "a b\nb"], ["settings", {}]],
  nbest: [[record ? "record" : "text", translating[0]], ["count", 2], ["settings", {}]],
  generate: [["text", "a b"], ["settings", {temperature: 0}]],
  generate_text: [["texts", ["a b"]], ["settings", {temperature: 0}]],
  predict_text: [["texts", ["worda"]], ["settings", {}]],
  unknown: [],
  predict: [["text", "worda"], ["settings", {}]],
  tokens: [["text", "worda"]],
};

// A mistake in words: no trap of the module, no error of this file's own making.
const isToldOf = name => error => {
  assert.ok([TypeError, Error].includes(error.constructor), error);
  assert.ok(error.message.includes(name) || /^(record 0|a NUL in a string|there is no setting|(beam|top): )/.test(error.message), `${name}: ${error.message}`);
  return true;
};

assert.deepEqual(Object.keys(others), []);
let checked = 0;
for (const [name, call] of Object.entries(model)) {
  assert.ok(functions[name], `nothing is checked of ${name}`);
  const kinds = functions[name].map(([kind]) => kind), right = functions[name].map(([, value]) => value), answer = call(...right);
  assert.ok(kinds.length >= call.length, `${name} has more arguments`);
  kinds.forEach((kind, i) => bad[kind].forEach(value => {
    assert.throws(() => call(...right.with(i, value)), isToldOf(kind), `${name} takes ${String(kind)} ${typeof value}`);
    checked++;
  }));
  assert.deepEqual(call(...right), answer, name);
  if (kinds.at(-1) === "settings")
    assert.deepEqual(call(...right.slice(0, -1)), call(...right.with(-1, undefined)));
}
for (const module of [null, 5, NaN, "model.wasm", {}, [], [0], true, () => 0])
  await assert.rejects(load({module}), {name: "TypeError", message: /^module: expected the bytes of model.wasm, not / });
for (const options of [null, 5, "a", [], true, new Uint8Array(4)])
  await assert.rejects(load(options), {name: "TypeError", message: /^options: expected an object, not / });
// What JSON has no word for.
for (const part of record ? [5n, () => 5, Symbol("a"), new DataView(new ArrayBuffer(4)), [5n], [[Symbol("a")]]] : [])
  for (const member of Object.keys(record))
    assert.throws(() => model.translate({...record, [member]: part}), new RegExp(`\\b${member}\\b`));
if (record)
  assert.equal(model.translate({...record, more: () => 0}), model.translate(record));
console.log(`${checked} values are refused`);
