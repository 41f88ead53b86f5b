// How fast a page of tfc compile --emit html answers in Chromium, or with BROWSER=firefox in Firefox: from
// opening it to being ready, the first answer, then the median of a line and the mean of a word, with beam 4; and
// the median of a line with what its answer looks at, where the page tells that.
// Usage: node bench/page.mjs PAGE.html TEXT   (its first 40 lines)
import {readFileSync} from "node:fs";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {openBrowser} from "../tests/cli/browser.mjs";

const [page, text] = process.argv.slice(2);
const lines = readFileSync(text, "utf8").trim().split("\n").slice(0, 40);
const browser = await openBrowser(process.env.BROWSER), tab = await browser.openTab();
const begin = performance.now();
await tab.goTo(pathToFileURL(resolve(page)).href);
while (!await tab.evaluate("ask !== null"))
  await new Promise(done => setTimeout(done, 5));
const ready = performance.now() - begin;
const answer = (line, more = {}) => tab.evaluate(`(async () => {
  const begin = performance.now(), {answers: [{text}]} = await ask(${JSON.stringify({text: line, beam: 4, nbest: 1, ...more})});
  return [performance.now() - begin, text];
})()`);
const median = times => times.sort((a, b) => a - b)[times.length >> 1].toFixed(1);
const [first] = await answer(lines[0]), times = [], attending = [];
let words = 0;
for (const line of lines) {
  const [time, given] = await answer(line);
  times.push(time);
  words += given.split(" ").length;
}
if (await tab.evaluate("typeof attends !== 'undefined' && attends"))
  for (const line of lines)
    attending.push((await answer(line, {attention: true}))[0]);
const sum = times.reduce((a, b) => a + b);
console.log(`ready ${Math.round(ready)} ms, first answer ${Math.round(first)} ms, then a line ${median(times)} ms (median), ` +
  `a word ${(sum / words).toFixed(2)} ms${attending.length ? `, a line with attention ${median(attending)} ms` : ""}; ${(readFileSync(page).length / 1e6).toFixed(1)} MB`);
await browser.close();
