// The page of tfc attend in a headless browser: nothing from outside, heads chosen by pointer and keys,
// themes, narrow screens; attend_run.mjs has its numbers.
// Usage: node attend.mjs PAGE.html
import {pathToFileURL} from "node:url";
import {openBrowser} from "./browser.mjs";

const address = pathToFileURL(process.argv[2]).href;
const browser = await openBrowser(process.env.BROWSER);
const tab = await browser.openTab();
const failures = [];

function need(ok, what) {
  if (!ok)
    throw new Error(what);
}
const text = selector => tab.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ""`);
const boxesOf = selector => tab.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map(e => e.getBoundingClientRect().toJSON())`);
const count = selector => tab.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`);

const tests = {
  async "all heads and one large"() {
    await tab.resize(1400, 900);
    await tab.goTo(address);
    // Two layers of each kind, four heads and their mean.
    need(await count("#all .thumb") === 30, `${await count("#all .thumb")} heads are shown`);
    need((await text("#name")).includes("cross"), "it does not begin with the alignment: " + await text("#name"));
    need(await count("#matrix svg, #matrix canvas") === 1, "no matrix");
    need(/entropy [0-9.]+ nats/.test(await text("#figures")), "no figures: " + await text("#figures"));
  },

  async "a head is chosen, and stays in the address"() {
    await tab.evaluate("document.querySelector('#all .thumb').click()");
    need((await text("#name")).startsWith("encoder.layer.0.self · head 0"), "not the first head: " + await text("#name"));
    need((await tab.evaluate("location.hash")).includes("layer=0"), "the address does not tell");
    await tab.evaluate("document.querySelector('#all .thumb').focus()");
    await tab.press("ArrowRight");
    need((await text("#name")).startsWith("encoder.layer.0.self · head 1"), "the key chose " + await text("#name"));
  },

  async "another sentence"() {
    const before = await text("#matrix");
    await tab.evaluate("byId('after').click()");
    need(await tab.evaluate("byId('sentence').value") === "1", "the sentence stayed");
    need(!(await tab.evaluate("byId('before').disabled")), "there is no way back");
    need(before !== undefined, "no matrix");
  },

  async "both themes"() {
    const colour = () => tab.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await colour();
    await tab.evaluate("byId('theme').click()");
    need(await colour() !== light, "the theme stayed");
  },

  // Controls side by side, every mean in sight, and a head that is tapped shown where the reader is.
  async "a narrow screen"() {
    for (const width of [390, 320]) {
      await tab.resize(width, 844);
      await tab.goTo(address);
      need(await tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), `${width}: it scrolls sideways`);
      const boxes = await boxesOf("header button, header select");
      need(boxes.every(box => box.width > 20 && box.left >= 0 && box.right <= width), `${width}: a control is cut`);
      need(boxes.every((a, i) => boxes.every((b, j) => i >= j || a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top)),
        `${width}: a control lies over another`);
      const means = await boxesOf("#all tr > :last-child");
      need(means.length === 9 && means.every(box => box.left > 0 && box.right <= width - 20), `${width}: a mean is cut`);
    }
    await tab.click("#all .thumb");
    const [one] = await boxesOf("#matrix");
    need(one.top >= 0 && one.bottom <= 844, "the head that was tapped is out of sight");
  },

  async "nothing from outside"() {
    const others = tab.requests.filter(url => !url.startsWith(address) && url !== "about:blank" && !url.startsWith("data:"));
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
