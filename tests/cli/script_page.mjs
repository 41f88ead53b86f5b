// The page of tfc compile --emit html in a headless browser, from the disk: nothing from outside, what is
// typed is answered with what tfc translate says, several answers, what they look at, themes, a narrow screen.
// Usage: node script_page.mjs PAGE.html SOURCES WANTED WANTED.JSON
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";
import {isDone, need, openBrowser, waitFor} from "./browser.mjs";

const within = +(process.env.WITHIN ?? 1.01e-4); // of weights
const [page, ...files] = process.argv.slice(2), address = pathToFileURL(page).href;
const [sources, wanted, aligned] = files.map(file => readFileSync(file, "utf8").trimEnd().split("\n"));
const browser = await openBrowser(process.env.BROWSER);
const tab = await browser.openTab();
const failures = [];

const answers = () => tab.evaluate("[...document.querySelectorAll('.words')].map(e => e.textContent)");

const tests = {
  async "what is typed is answered"() {
    await tab.resize(1000, 800);
    await tab.goTo(address);
    await waitFor(tab, "byId('status').textContent === ''", "it does not become ready");
    await tab.click("#text");
    await tab.type(sources[0]);
    await waitFor(tab, isDone, "no answer");
    need((await answers())[0] === wanted[0], `${sources[0]}: ${await answers()}, not ${wanted[0]}`);
  },

  async "lines and several answers"() {
    const text = sources.join("\n");
    await tab.evaluate(`byId("text").value = ${JSON.stringify(text)}; byId("status").textContent = "";
      byId("text").dispatchEvent(new Event("input"))`);
    await waitFor(tab, isDone, "no answer to many lines");
    const found = await answers();
    need(found.length === wanted.length, `${found.length} answers`);
    found.forEach((answer, i) => need(answer === wanted[i], `${sources[i]}: ${answer}, not ${wanted[i]}`));
    await tab.evaluate(`byId("text").value = ${JSON.stringify(sources[3])}; byId("count").value = "4"; byId("status").textContent = "";
      byId("count").dispatchEvent(new Event("change"))`);
    await waitFor(tab, isDone, "no list");
    need((await answers()).length === 4 && (await answers())[0] === wanted[3], "not four answers: " + await answers());
  },

  async "what answers look at is what tfc translate tells"() {
    const lines = sources.slice(0, 60), told = aligned.map(line => JSON.parse(line)).filter(({line}) => line < lines.length);
    const {answers: found} = await tab.evaluate(`ask({text: ${JSON.stringify(lines.join("\n"))}, nbest: 3, beam: 4, attention: true})`);
    need(found.length === told.length && found.length > 150, `${found.length} answers, not ${told.length}`);
    found.forEach(({text, attention}, i) => {
      const {text: wants, attention: {source, target, weights}} = told[i];
      need(text === wants && attention.source.join(" ") === source.join(" ") && attention.target.join(" ") === target.join(" "), `${text}, not ${wants}`);
      attention.weights.forEach((row, t) => row.forEach((weight, s) =>
        need(Math.abs(weight - weights[t][s]) <= within, `${text}: ${weight}, not ${weights[t][s]}`)));
    });
  },

  async "words that are pointed at light the others"() {
    const lit = side => tab.evaluate(`[...document.querySelectorAll("${side} .unit")].map(unit => +unit.style.getPropertyValue("--w"))`);
    const middle = (selector, i) => tab.evaluate(`(() => {
      const {x, y, width, height} = document.querySelectorAll(${JSON.stringify(selector)})[${i}].getBoundingClientRect();
      return [x + width / 2, y + height / 2]; })()`);
    const shade = weight => weight < .04 ? 0 : weight ** .7;
    const near = (found, wants, what) => need(found.length >= wants.length && wants.every((weight, i) => Math.abs(found[i] - shade(weight)) < 2e-3), `${what}: ${found}, not ${wants.map(shade)}`);
    const {line, attention: {weights, source, target}} = aligned.map(text => JSON.parse(text))
      .find(({line, attention}, i, all) => line !== all[i - 1]?.line && attention.target.length > 3); // a line's best answer
    await tab.evaluate(`byId("text").value = ${JSON.stringify(sources[line])}; byId("count").value = "2"; byId("status").textContent = "";
      byId("text").dispatchEvent(new Event("input"))`);
    await waitFor(tab, isDone, "no answer");
    for (const t of [0, 1]) {
      await tab.point(...await middle(".answer .unit", t));
      near(await lit(".source"), weights[t], "the source");
    }
    await tab.point(...await middle(".source .unit", 1));
    near(await lit(".answer"), weights.slice(0, -1).map(row => row[1]), "the answer");
    need(await tab.evaluate(`document.querySelectorAll(".source .pointed").length`) === 1, "the word itself has no mark");
    await tab.point(2, 2);
    need((await lit("#answers")).every(weight => weight === 0), "it stays lit");
    // The same by keys, in words, too.
    await tab.evaluate(`document.querySelector(".answer .words").focus()`);
    await tab.press("ArrowRight");
    await tab.press("ArrowRight");
    near(await lit(".source"), weights[1], "by keys");
    const told = () => tab.evaluate("byId('told').textContent");
    const most = weights[1].indexOf(Math.max(...weights[1])), share = `${Math.round(100 * weights[1][most])} %`;
    need((await told()).startsWith(`${target[1]} ← `) && (await told()).includes(share), `it tells "${await told()}", not ${share}`);
    await tab.press("Escape");
    need((await lit(".source")).every(weight => weight === 0), "Escape leaves it lit");
    need(/arrow keys/.test(await told()), "how words are pointed at is not told");
    need(await tab.evaluate("!document.querySelector('[title]')"), "a title, which a pointer alone shows");
    need((await tab.evaluate("[...document.querySelectorAll('.note')].at(-1).textContent")).includes("its score"), "scores have no words");
    // The table, which stays open for the next answer.
    await tab.click(".answer .table");
    const table = () => tab.evaluate(`[...document.querySelectorAll(".weights:not([hidden]) tbody tr")].map(row =>
      [...row.querySelectorAll("td")].map(cell => +cell.style.getPropertyValue("--w")))`);
    const cells = await table();
    need(cells.length === target.length && cells.every((row, t) => row.length === source.length && row.every((weight, s) => Math.abs(weight - weights[t][s]) < 1e-3)), "the table has others");
    await tab.point(...await middle(".weights tbody td", source.length + 1));
    need(await tab.evaluate(`[".answer .words", ".source"].every(side => [...document.querySelector(side).querySelectorAll(".unit")].findIndex(unit => unit.classList.contains("pointed")) === 1)`),
      "a cell does not mark its words");
    await tab.evaluate(`document.querySelector(".weights table").focus()`);
    for (const key of ["Home", "ArrowDown", "ArrowRight"])
      await tab.press(key);
    need(await told() === `${target[1]} ← ${source[1]}: ${Math.round(100 * weights[1][1])} %`, `of a cell it tells "${await told()}"`);
    await tab.evaluate(`byId("text").value = ${JSON.stringify(sources[4])}; byId("status").textContent = ""; byId("text").dispatchEvent(new Event("input"))`);
    await waitFor(tab, isDone, "no answer");
    need((await table()).length > 1, "the table has closed");
    await tab.click(".answer .table");
    need((await table()).length === 0, "the table does not close");
  },

  async "unknown words are counted"() {
    const notes = () => tab.evaluate("[...document.querySelectorAll('.note')].map(e => e.textContent)");
    need(!(await notes()).some(note => note.includes("unknown")), "unknown tokens of a known text");
    await tab.evaluate(`byId("text").value = "❄ a ❄ b\\nb"; byId("status").textContent = ""; byId("text").dispatchEvent(new Event("input"))`);
    await waitFor(tab, isDone, "no answer");
    need((await notes())[0]?.startsWith("2 of 5 tokens are unknown to the vocabulary"), `it tells ${await notes()}`);
  },

  async "words of letters are taken apart"() {
    await tab.evaluate(`byId("text").value = "ABE gh"; byId("count").value = "1"; byId("status").textContent = "";
      byId("text").dispatchEvent(new Event("input"))`);
    await waitFor(tab, isDone, "no answer to words");
    const found = await tab.evaluate("[...document.querySelectorAll('.source')].map(e => e.textContent)");
    need(found.join() === "abe,gh" && (await answers()).length === 2, "words were not taken apart: " + found);
  },

  async "a line that is too long is named, and the others are answered"() {
    const lines = [...sources.slice(0, 3), "a ".repeat(500), ...sources.slice(3, 6)];
    const type = async text => {
      await tab.evaluate(`byId("text").value = ${JSON.stringify(text)}; byId("count").value = "1"; byId("status").textContent = "";
        byId("text").dispatchEvent(new Event("input"))`);
      await waitFor(tab, "/ not answered$/.test(byId('status').textContent)", "nothing is told");
      return answers();
    };
    const found = await type(lines.join("\n"));
    const [told] = found.splice(3, 1);
    need(/^the word has \d+ tokens, the model takes \d+ at most$/.test(told), `it tells "${told}"`);
    need(found.join("|") === wanted.slice(0, 6).join("|"), `the others have ${found.join("|")}, not ${wanted.slice(0, 6).join("|")}`);
    need(await tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the line makes the page wider");
    need((await type("a ".repeat(500))).join() === told, "alone it is told otherwise");
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
