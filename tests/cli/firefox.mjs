// A headless Firefox with the tabs of browser.mjs, through WebDriver BiDi: npm's puppeteer-core speaks it.
// What Firefox does not offer a driver, print's media, is no member of its tabs.
import {createRequire} from "node:module";
import {fileURLToPath, pathToFileURL} from "node:url";

const NPM = fileURLToPath(new URL("../../build/npm/", import.meta.url));
const KEYS = {" ": "Space"};

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
    press: async (key, {shift = false} = {}) => {
      if (shift)
        await page.keyboard.down("Shift");
      await page.keyboard.press(KEYS[key] || key);
      if (shift)
        await page.keyboard.up("Shift");
    },
    type: text => page.keyboard.type(text),
    point: (x, y) => page.mouse.move(x, y),
    async click(selector) {
      await page.mouse.click(...await middleOf(selector));
    },
    async drag(selector, dx, dy) {
      const [x, y] = await middleOf(selector);
      await page.mouse.move(x, y);
      await page.mouse.down();
      for (const part of [.5, 1])
        await page.mouse.move(x + dx * part, y + dy * part);
      await page.mouse.up();
    },
    picture: path => page.screenshot({path}),
  };
}
