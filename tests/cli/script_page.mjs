// The page of tfc compile --emit html in a headless browser, from the disk: nothing from outside, what is
// typed is answered with what tfc translate says, several answers, themes, a narrow screen.
// Usage: node script_page.mjs PAGE.html SOURCES WANTED
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";
import {openBrowser} from "./browser.mjs";

const [page, ...files] = process.argv.slice(2), address = pathToFileURL(page).href;
const [sources, wanted] = files.map(file => readFileSync(file, "utf8").trimEnd().split("\n"));
const browser = await openBrowser(process.env.BROWSER);
const tab = await browser.openTab();
const failures = [];

function need(ok, what) {
  if (!ok)
    throw new Error(what);
}
// As soon as it is so.
async function waitFor(expression, what) {
  for (let i = 0; i < 400; i++) {
    if (await tab.evaluate(expression))
      return;
    await new Promise(resolve => setTimeout(resolve, 25));
  }
  throw new Error(`${what}: ${(await tab.evaluate("document.body.innerText")).slice(0, 300)}`);
}
const isDone = "/^\\d+ ms$/.test(byId('status').textContent) && !byId('answers').classList.contains('old')";
const answers = () => tab.evaluate("[...document.querySelectorAll('.words')].map(e => e.textContent)");

const tests = {
  async "what is typed is answered"() {
    await tab.resize(1000, 800);
    await tab.goTo(address);
    await waitFor("byId('status').textContent === ''", "it does not become ready");
    await tab.click("#text");
    await tab.type(sources[0]);
    await waitFor(isDone, "no answer");
    need((await answers())[0] === wanted[0], `${sources[0]}: ${await answers()}, not ${wanted[0]}`);
  },

  async "lines and several answers"() {
    const text = sources.join("\n");
    await tab.evaluate(`byId("text").value = ${JSON.stringify(text)}; byId("status").textContent = "";
      byId("text").dispatchEvent(new Event("input"))`);
    await waitFor(isDone, "no answer to many lines");
    const found = await answers();
    need(found.length === wanted.length, `${found.length} answers`);
    found.forEach((answer, i) => need(answer === wanted[i], `${sources[i]}: ${answer}, not ${wanted[i]}`));
    await tab.evaluate(`byId("text").value = ${JSON.stringify(sources[3])}; byId("count").value = "4"; byId("status").textContent = "";
      byId("count").dispatchEvent(new Event("change"))`);
    await waitFor(isDone, "no list");
    need((await answers()).length === 4 && (await answers())[0] === wanted[3], "not four answers: " + await answers());
  },

  async "words of letters are taken apart"() {
    await tab.evaluate(`byId("text").value = "ABE gh"; byId("count").value = "1"; byId("status").textContent = "";
      byId("text").dispatchEvent(new Event("input"))`);
    await waitFor(isDone, "no answer to words");
    const found = await tab.evaluate("[...document.querySelectorAll('.source')].map(e => e.textContent)");
    need(found.join() === "abe,gh" && (await answers()).length === 2, "words were not taken apart: " + found);
  },

  async "what is too long is told"() {
    await tab.evaluate(`byId("text").value = "a ".repeat(500); byId("text").dispatchEvent(new Event("input"))`);
    await waitFor("byId('status').classList.contains('wrong')", "nothing is told");
    need((await tab.evaluate("byId('status').textContent")).includes("the model takes"), "it tells something else");
  },

  async "both themes and a narrow screen"() {
    const colour = () => tab.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await colour();
    await tab.click("#theme");
    need(await colour() !== light, "the theme stayed");
    await tab.resize(360, 700);
    need(await tab.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), "a narrow screen scrolls sideways");
  },

  async "nothing from outside"() {
    const others = tab.requests.filter(url => !/^(data|blob):|^about:blank/.test(url) && !url.startsWith(address));
    need(!others.length, "it asks for " + others[0]);
  },
};

for (const [name, test] of Object.entries(tests))
  try {
    await test();
  } catch (error) {
    failures.push(`${name}: ${error.message}`);
  }
if (tab.errors.length)
  failures.push("an error in the page: " + tab.errors[0]);
await browser.close();
failures.forEach(failure => console.log(failure));
process.exit(failures.length ? 1 : 0);
