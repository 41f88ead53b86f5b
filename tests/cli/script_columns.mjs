// A page of a model that generates texts from columns, in a headless browser, from the disk: its form has a field for each
// input, and what is filled in is answered as one types it.
// Usage: node script_columns.mjs PAGE.html RECORDS ANSWERS   (lines of tfc translate --json)
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";
import {isDone, need, openBrowser, waitFor} from "./browser.mjs";

const [page, ...files] = process.argv.slice(2);
const [rows, wanted] = files.map(file => readFileSync(file, "utf8").trimEnd().split("\n").map(line => JSON.parse(line)));
const browser = await openBrowser(process.env.BROWSER), tab = await browser.openTab();
const texts = selector => tab.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map(e => e.textContent)`);
const fill = values => tab.evaluate(`${JSON.stringify(values)}.forEach((value, i) => {
  const input = document.querySelectorAll("#fields select, #fields textarea")[i];
  input.value = value;
  input.dispatchEvent(new Event("input", {bubbles: true}));
})`);

try {
  await tab.resize(1000, 800);
  await tab.goTo(pathToFileURL(page).href);
  await waitFor(tab, "byId('status').textContent === ''", "it does not become ready");
  need((await texts("#fields option")).join() === "*/,</script><b>,long", `labels: ${await texts("#fields option")}`);
  for (const i of [0, 1, 2]) {
    const {frames, a, kind, marks, weight} = rows[i];
    await tab.evaluate("byId('status').textContent = ''");
    await fill([JSON.stringify(frames), a, kind, marks, String(weight)]);
    await waitFor(tab, isDone, "no answer");
    need((await texts(".answer .words"))[0] === wanted[i].text, `${await texts(".answer .words")}, not ${wanted[i].text}`);
  }
  await tab.evaluate("byId('status').textContent = ''");
  await fill(["1 2 3"]);
  await waitFor(tab, "document.querySelector('.answer.wrong') !== null", "no mistake is shown");
  need((await texts(".answer.wrong"))[0].includes("has 3 numbers, and `frames` takes 2"), (await texts(".answer.wrong"))[0]);
  if (process.env.PICTURE)
    await tab.picture(process.env.PICTURE);
  console.log("all is well");
} finally {
  await browser.close();
}
