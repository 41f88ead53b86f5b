// The package of tfc compile --emit js under Node: answers are those of tfc translate and tfc generate, and
// wrong requests are errors after which it goes on.
// In eight workers, each with a module and memory of its own, it answers as in one.
// Usage: node script.mjs PACKAGE SPEAKER SOURCES WANTED WANTED.NBEST WANTED.SPOKEN WANTED.JSON
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {Worker} from "node:worker_threads";

const within = +(process.env.WITHIN ?? 1.01e-4); // of scores and weights
const [folder, speaker, ...files] = process.argv.slice(2);
const [sources, wanted, nbest, spoken, aligned] = files.map(file => readFileSync(file, "utf8").trimEnd().split("\n"));
const {load} = await import(pathToFileURL(resolve(folder, "index.js")));
const model = await load();
sources.forEach((source, i) => assert.equal(model.translate(source), wanted[i], source));
assert.deepEqual(model.answers(sources.join("\n")).map(answer => answer.text), wanted);

const lists = sources.map(() => []);
for (const line of nbest) {
  const [number, text, score] = line.split(" ||| ");
  lists[number].push({text, score: +score});
}
sources.slice(0, 20).forEach((source, i) => {
  const found = model.nbest(source, 3);
  assert.deepEqual(found.map(({text}) => text), lists[i].map(({text}) => text), source);
  found.forEach(({score}, k) => assert.ok(Math.abs(score - lists[i][k].score) <= within));
});

// Attention: that of tfc translate, to the digits that are told.
const answers = model.answers(sources.join("\n"), {nbest: 3, attention: true});
assert.equal(answers.length, aligned.length);
answers.forEach(({text, line, attention}, i) => {
  const {attention: {source, target, weights}, ...told} = JSON.parse(aligned[i]);
  if (process.env.WITHIN && text !== told.text && i > 0 && answers[i - 1].line === line)
    return; // in integers: of answers behind the best, near equals may change places
  assert.deepEqual([text, line, attention.source, attention.target], [told.text, told.line, source, target]);
  attention.weights.forEach((row, t) => row.forEach((weight, s) => assert.ok(Math.abs(weight - weights[t][s]) <= within, `${text}: ${t} ${s}`)));
  assert.deepEqual(attention.source_words, source.map((_, s) => s < source.length - 1 ? s : -1));
  assert.deepEqual(attention.target_words, target.map((_, t) => t < target.length - 1 ? t : -1));
});
assert.deepEqual(model.answers(sources[0], {nbest: 9}), model.answers(sources[0], {nbest: 9, beam: 9}));
assert.deepEqual(model.nbest(sources[0], 9), model.nbest(sources[0], 9, {beam: 9}));
assert.equal(model.nbest(sources[0], 1)[0].attention, undefined);
assert.equal(model.answers("\na b", {attention: true})[0].attention, undefined);
assert.throws(() => model.nbest("a b", 1, {attention: 1}), /attention: expected true or false/);

assert.equal(model.translate(""), "");

// The long names, which Python and C have: each line of a text; a list.
assert.equal(model.translate_text(sources.slice(0, 9).join("\n") + "\n"), wanted.slice(0, 9).join("\n") + "\n");
assert.deepEqual(model.translate_text(sources.slice(0, 9)), wanted.slice(0, 9));
assert.equal(model.translate_text(`${sources[0]}\n\n${sources[1]}`), `${wanted[0]}\n\n${wanted[1]}`);
assert.deepEqual([model.translate_text(""), model.translate_text([]), model.translate_text(["", sources[2]])], ["", [], ["", wanted[2]]]);
assert.throws(() => model.translate_text(["a\nb"]), {name: "TypeError", message: /^text: a line has a newline/});

// Unknown tokens are counted, and told of where they are many, once of what is the same.
const told = [], {warn} = console;
console.warn = note => told.push(note);
model.translate("a b");
assert.deepEqual(model.unknown(), {tokens: 2, unknown: 0, note: null});
model.translate("a zz yy b");
assert.deepEqual([model.unknown().tokens, model.unknown().unknown], [4, 2]);
assert.match(model.unknown().note, /^50.* unknown to the vocabulary/);
model.translate("a zz yy b");
assert.deepEqual(told, [model.unknown().note]);
console.warn = warn;

const work = `const {parentPort, workerData: {module, sources, first}} = require("node:worker_threads");
  import(module).then(({load}) => load()).then(model => {
    const found = [];
    for (let i = 0; i < 3 * sources.length; i++)
      found[(first + i) % sources.length] = model.translate(sources[(first + i) % sources.length]);
    parentPort.postMessage(found);
  });`;
const module = pathToFileURL(resolve(folder, "index.js")).href, few = sources.slice(0, 40);
const asked = Array.from({length: 8}, (_, k) => new Promise((found, failed) =>
  new Worker(work, {eval: true, workerData: {module, sources: few, first: 5 * k}}).once("message", found).once("error", failed)));
for (const found of await Promise.all(asked))
  assert.deepEqual(found, wanted.slice(0, few.length));
for (const [settings, message] of [
  [{beam: 0}, /beam: expected a whole number from 1/], [{beam: 1.5}, /beam: expected/], [{nbest: 9, beam: 4}, /nbest is 9: a search gives no more than its beam, 4/],
  [{width: 3}, /no setting 'width'/], [{length_penalty: "x"}, /length_penalty: expected a number/],
  [{seed: -1}, /seed: expected a whole number of at least 0/], [{seed: 1.5}, /seed: expected/], [{beam: 2 ** 32 + 5}, /beam: expected/]])
  assert.throws(() => model.translate("a b", settings), message);
assert.throws(() => model.answers("a ".repeat(500)), /line 1 has \d+ tokens, the model takes/);
assert.equal(model.translate(sources[0]), wanted[0]);
const bytes = readFileSync(resolve(folder, "model.wasm"));
assert.equal((await load({module: bytes})).translate(sources[1]), wanted[1]);
const {name, types} = JSON.parse(readFileSync(resolve(folder, "package.json"), "utf8"));
assert.equal(name, "translator");
const declared = readFileSync(resolve(folder, types), "utf8");
assert.match(declared, /translate\(text: string, settings\?: Settings\): string;/);

// Every setting that the types declare is there, and refused beyond its range.
const ranges = [...declared.matchAll(/(a (?:whole )?number (?:from|of at least) (\S+)(?: to (\S+))?) \*\/\n  (\w+)\?:/g)];
assert.ok(ranges.length >= 18);
for (const [, expected, least, most, setting] of ranges)
  for (const beyond of [least - 1, most === undefined ? -1 : +most + 1])
    assert.throws(() => model.translate("a b", {[setting]: beyond}), {message: `${setting}: expected ${expected}`});

const speaks = await (await import(pathToFileURL(resolve(speaker, "index.js")))).load();
assert.equal(speaks.generate("a b", {temperature: 0, length_factor: 0, length_extra: 8}), spoken.join("\n"));
assert.equal(speaks.generate_text("a b", {temperature: 0, length_factor: 0, length_extra: 8}), spoken.join("\n"));
assert.deepEqual(speaks.generate_text(["a b", "b"], {temperature: 0}), ["a b", "b"].map(text => speaks.generate(text, {temperature: 0})));
assert.throws(() => speaks.generate("a b", {attention: true}), /no setting 'attention'/);
