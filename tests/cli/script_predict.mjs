// A page of a model that predicts, in a headless browser, from the disk: what is typed is classified as one types it, and
// tokens have their tags, and vectors their numbers.
// Usage: node script_predict.mjs PAGE.html LINES PREDICTIONS   (lines of tfc predict --json --top 1000)
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";
import {isDone, need, openBrowser, waitFor} from "./browser.mjs";

const [page, ...files] = process.argv.slice(2);
const [lines, wanted] = files.map(file => readFileSync(file, "utf8").trimEnd().split("\n"));
const browser = await openBrowser(process.env.BROWSER), tab = await browser.openTab();

const texts = selector => tab.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map(e => e.textContent)`);

try {
  await tab.resize(1000, 800);
  await tab.goTo(pathToFileURL(page).href);
  await waitFor(tab, "byId('status').textContent === ''", "it does not become ready");
  for (const i of [0, 1, 2]) {
    const {line, ...told} = JSON.parse(wanted[i]);
    await tab.evaluate("byId('text').value = ''; byId('status').textContent = ''");
    await tab.click("#text");
    await tab.type(lines[i]);
    await waitFor(tab, isDone, "no answer");
    const [classes] = Object.values(told).filter(value => Array.isArray(value[0]) && typeof value[0][0] === "string");
    const [tags] = Object.values(told).filter(value => Array.isArray(value[0]?.[0]) && typeof value[0][0][0] === "string");
    const found = {classes: await texts(".class .words"), tags: await texts(".tags rt")};
    if (classes)
      need(found.classes.join() === classes.map(([name]) => name).join(), `${lines[i]}: ${found.classes}`);
    if (tags)
      need(found.tags.join() === tags.map(([[name]]) => name).join() && (await texts(".tags ruby"))[0].startsWith(lines[i].split(" ")[0]), `${lines[i]}: ${found.tags}`);
    const [numbers] = classes || tags ? [] : Object.values(told).filter(value => typeof value[0] === "number");
    if (numbers) // in the digits that are shown the last one may differ
      (await texts(".numbers"))[0].split(" ").forEach((shown, k) =>
        need(Math.abs(shown - numbers[k]) <= 1e-3 * Math.abs(numbers[k]), `${lines[i]}: ${shown}, not ${numbers[k]}`));
    need(classes || tags || numbers, "nothing to compare");
    need((await texts("h2.prediction")).length === (Object.keys(told).length > 1 ? Object.keys(told).length : 0), "names of predictions");
  }
  // Words below tell by keys what only a pointer over a tag told.
  if (await tab.evaluate("Boolean(document.querySelector('.tags .unit'))")) {
    await tab.evaluate("document.querySelector('.tags').focus()");
    await tab.press("ArrowRight");
    const told = await tab.evaluate("byId('told').textContent");
    need(/^\S+: \S.* [\d.]+ %, /.test(told), `it tells "${told}" of a tag`);
  }
  need(await tab.evaluate("!document.querySelector('[title]')"), "a title, which a pointer alone shows");
  await tab.evaluate("byId('text').value = ''; byId('status').textContent = ''");
  await tab.click("#text");
  await tab.type("qq❄q");
  await waitFor(tab, isDone, "no answer");
  need((await texts(".note"))[0]?.includes("unknown to the vocabulary"), `unknown tokens are not told: ${await texts("#answers")}`);
  if (process.env.PICTURE)
    await tab.picture(process.env.PICTURE);
  console.log("all is well");
} finally {
  await browser.close();
}
