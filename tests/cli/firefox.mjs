// A headless Firefox with the tabs of browser.mjs, through WebDriver BiDi: npm's puppeteer-core speaks it.
// What no test needs there is no member of its tabs, nor print's media, which BiDi does not offer.
import {createRequire} from "node:module";
import {fileURLToPath, pathToFileURL} from "node:url";

const NPM = fileURLToPath(new URL("../../build/npm/", import.meta.url));

export async function openFirefox() {
  const {default: puppeteer} = await import(pathToFileURL(createRequire(NPM).resolve("puppeteer-core")));
  const browser = await puppeteer.launch({browser: "firefox", executablePath: "/usr/bin/firefox-esr", headless: true});
  return {
    openTab: async () => makeTab(await browser.newPage()),
    close: () => browser.close(),
  };
}

function makeTab(page) {
  const errors = [], requests = [];
  page.on("pageerror", error => errors.push(error.stack || String(error)));
  page.on("request", request => requests.push(request.url()));
  const middleOf = selector => page.evaluate(`(() => {
    const element = document.querySelector(${JSON.stringify(selector)});
    if (!element) throw new Error("nothing at " + ${JSON.stringify(selector)});
    element.scrollIntoView({block: "nearest"});
    const box = element.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  })()`);
  return {
    errors, requests,
    evaluate: expression => page.evaluate(expression),
    async goTo(address) {
      await page.goto("about:blank");
      await page.goto(address, {waitUntil: "load"});
    },
    resize: (width, height) => page.setViewport({width, height}),
    press: key => page.keyboard.press(key),
    type: text => page.keyboard.type(text),
    point: (x, y) => page.mouse.move(x, y),
    async click(selector) {
      await page.mouse.click(...await middleOf(selector));
    },
  };
}
