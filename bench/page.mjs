// How fast a page of tfc compile --emit html answers in Chromium, or with BROWSER=firefox in Firefox: from
// opening it to being ready, the first answer, then the median of a line and the mean of a word, with beam 4.
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
const answer = line => tab.evaluate(`(async () => {
  const begin = performance.now(), [{text}] = await ask({text: ${JSON.stringify(line)}, beam: 4, nbest: 1});
  return [performance.now() - begin, text];
})()`);
const [first] = await answer(lines[0]), times = [];
let words = 0;
for (const line of lines) {
  const [time, given] = await answer(line);
  times.push(time);
  words += given.split(" ").length;
}
times.sort((a, b) => a - b);
const sum = times.reduce((a, b) => a + b);
console.log(`ready ${Math.round(ready)} ms, first answer ${Math.round(first)} ms, then a line ${times[times.length >> 1].toFixed(1)} ms ` +
  `(median), a word ${(sum / words).toFixed(2)} ms; ${(readFileSync(page).length / 1e6).toFixed(1)} MB`);
await browser.close();
