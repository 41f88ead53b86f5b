// The page of tfc report about two runs in a headless browser: nothing from outside, the axis, what lies
// under the pointer, themes, print, narrow screens.
// Usage: node report.mjs PAGE.html
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
const isShown = selector => tab.evaluate(`document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().height > 0`);

const tests = {
  async "plots over steps and minutes"() {
    await tab.resize(1200, 900);
    await tab.goTo(address);
    need(await isShown("#loss-steps") && !await isShown("#loss-minutes"), "not over steps at first");
    await tab.click("[data-axis=minutes]");
    need(!await isShown("#loss-steps") && await isShown("#loss-minutes"), "not over minutes");
    need((await tab.evaluate("location.hash")).includes("axis=minutes"), "the address does not tell");
    await tab.click("[data-axis=steps]");
  },

  async "what lies under the pointer"() {
    const [x, y] = await tab.evaluate(`(() => {
      const box = document.querySelector("#loss-steps svg").getBoundingClientRect();
      return [box.x + box.width * .98, box.y + box.height / 2];
    })()`);
    await tab.point(x, y);
    const said = await text("#readout");
    // The last report of the longer run, the first one's, and the lines of both.
    need(/Loss, nats a token: step 120: [\d.]+, [\d.]+, [\d.]+, [\d.]+$/.test(said), "it says: " + said);
    need(await tab.evaluate("document.querySelectorAll('#loss-steps .at').length") === 4, "no dots");
    await tab.point(5, 5);
    need(await text("#readout") === "", "it still says: " + await text("#readout"));
  },

  async "what differs is marked"() {
    need((await text(".runs .differs")).length > 0, "no row is marked");
    need((await text(".diff .ins")).includes("layers = 2"), "no difference of the models");
  },

  async "both themes, print and a narrow screen"() {
    const colour = () => tab.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await colour();
    await tab.click("#theme");
    need(await colour() !== light, "the theme stayed");
    if (tab.emulate) {
      await tab.emulate("print");
      need(!await isShown("#theme"), "buttons are printed");
      await tab.emulate("screen");
    }
    await tab.resize(390, 844);
    need(await tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), "a narrow screen scrolls sideways");
    // Names of params break behind their dots alone, beside figures that are all in sight.
    const tall = await tab.evaluate(`[...document.querySelectorAll(".table tbody tr")].map(row => row.getBoundingClientRect())
      .filter(({height, right}) => height > 80 || right > innerWidth - 20).length`);
    need(!tall, tall + " rows of tables are cut or in small pieces");
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
