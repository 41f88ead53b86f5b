// What a page of tfc attend shows of its first sentence is what tfc run computes: every weight of every
// head that the page draws, and what hovering over a cell of each row tells.
// Usage: node attend_run.mjs PAGE.html VOCAB.txt INPUT=source|target,… TFC MODEL.tfg OPTION …
// The model has the weights of each attention as an output, LAYER.weights, and each INPUT is fed with the
// page's tokens of that side.
import {execFileSync} from "node:child_process";
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {openBrowser} from "./browser.mjs";

const [page, vocab, inputs, tfc, model, ...options] = process.argv.slice(2);
const APART = 0.75 / 65535; // the page rounds to a multiple of 1 / 65535

function need(ok, what) {
  if (!ok)
    throw new Error(what);
}

// ---- tfc run ----

function writeIds(path, rows) {
  const header = {}, ids = Object.values(rows).flat();
  let at = 0;
  for (const [name, row] of Object.entries(rows))
    header[name] = {dtype: "I32", shape: [1, row.length], data_offsets: [at, at += 4 * row.length]};
  const text = Buffer.from(JSON.stringify(header)), length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  writeFileSync(path, Buffer.concat([length, text, Buffer.from(Int32Array.from(ids).buffer)]));
}

function readTensors(path) {
  const bytes = readFileSync(path), begin = 8 + Number(bytes.readBigUInt64LE());
  const header = JSON.parse(bytes.toString("utf8", 8, begin));
  return Object.fromEntries(Object.entries(header).filter(([name]) => name !== "__metadata__").map(
    ([name, {shape, data_offsets: [from, to]}]) =>
      [name, {shape, data: new Float32Array(bytes.buffer.slice(bytes.byteOffset + begin + from, bytes.byteOffset + begin + to))}]));
}

function runModel(sentence) {
  const words = readFileSync(vocab, "utf8").split("\n"), folder = mkdtempSync(join(tmpdir(), "attend-"));
  const rows = inputs.split(",").map(input => input.split("="))
    .map(([input, side]) => [input, sentence[side].map(word => words.indexOf(word))]);
  writeIds(join(folder, "in"), Object.fromEntries(rows));
  execFileSync(tfc, ["run", model, "--in", join(folder, "in"), "--out", join(folder, "out"), ...options]);
  const tensors = readTensors(join(folder, "out"));
  rmSync(folder, {recursive: true});
  return tensors;
}

// ---- the page ----

// The text has the pointer's cell, one in each row of the chosen head.
async function checkHovering(tab, what, queries, keys, weights) {
  for (let q = 0; q < queries.length; q++) {
    const k = (q + 1) % keys.length, wanted = weights[q * keys.length + k];
    const [x, y] = await tab.evaluate(`(() => {
      const svg = document.querySelector("#matrix svg");
      svg.scrollIntoView({block: "nearest"});
      const [query, key] = [[".query", ${q}], [".key", ${k}]].map(([name, i]) => svg.querySelectorAll(name)[i].getBoundingClientRect());
      return [key.x + key.width / 2, query.y + query.height / 2];
    })()`);
    await tab.point(x, y);
    const told = await tab.evaluate("byId('readout').innerText");
    const [, query, key, weight] = told.match(/^(.*) → (.*): (masked|[0-9.]+)$/) ?? [];
    const same = weight === "masked" ? wanted === 0 : Math.abs(weight - wanted) < 1e-4;
    need(query === queries[q] && key === keys[k] && same,
      `${what}: at row ${q}, column ${k}, of weight ${wanted}, it says: ${told}`);
  }
}

async function checkPage(tab) {
  await tab.resize(1400, 900);
  await tab.goTo(pathToFileURL(page).href);
  const sentence = JSON.parse(await tab.evaluate("JSON.stringify({...data.sentences[0], layers: " +
    "data.sentences[0].layers.map(layer => ({name: layer.name, heads: layer.heads, ...labelsOf(data.sentences[0], layer)}))})"));
  const tensors = runModel(sentence);
  const known = Object.keys(tensors).filter(name => name.endsWith(".weights"));
  need(known.length === sentence.layers.length, `${sentence.layers.length} attentions, ${known.length} outputs of the model`);
  for (const [l, {name, heads, queries, keys}] of sentence.layers.entries()) {
    const {shape, data} = tensors[name + ".weights"], area = queries.length * keys.length;
    need(`${shape}` === `1,${heads},${queries.length},${keys.length}`, `${name}: the model gives [${shape}]`);
    for (let h = 0; h < heads; h++) {
      const what = `${name}, head ${h}`, weights = data.subarray(h * area, (h + 1) * area);
      const drawn = await tab.evaluate(`[...weightsOf(data.sentences[0], data.sentences[0].layers[${l}], ${h})]`);
      const wrong = drawn.findIndex((weight, i) => Math.abs(weight - weights[i]) > APART);
      need(drawn.length === area && wrong < 0, `${what}: weight ${wrong} is ${drawn[wrong]}, the model gives ${weights[wrong]}`);
      await tab.evaluate(`document.querySelector('#all .thumb[data-l="${l}"][data-h="${h}"]').click()`);
      need((await tab.evaluate("byId('name').innerText")).startsWith(`${name} · head ${h}`), `${what} is not shown`);
      await checkHovering(tab, what, queries, keys, weights);
    }
  }
  await tab.point(2, 2);
  const told = await tab.evaluate("byId('readout').innerText");
  need(told.startsWith("Rows look at columns"), "beside the matrix it still says: " + told);
}

const browser = await openBrowser(process.env.BROWSER);
const tab = await browser.openTab();
let problem = "";
try {
  await checkPage(tab);
} catch (error) {
  problem = error.message;
}
problem ||= tab.errors[0] ?? "";
await browser.close();
console.log(problem || `${page}: as the model gives it`);
process.exit(problem ? 1 : 0);
