// A headless browser with keys and pointer as a reader's, sizes, themes and pictures: Chromium, driven
// over a pipe by the DevTools protocol without a package beside node, or Firefox (firefox.mjs).
import {spawn} from "node:child_process";
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {openFirefox} from "./firefox.mjs";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
  "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
  "--remote-debugging-pipe"];
// [code, virtual key] of keys that are not letters.
const KEYS = {Tab: ["Tab", 9], Enter: ["Enter", 13], Escape: ["Escape", 27], " ": ["Space", 32],
  Home: ["Home", 36], End: ["End", 35], ArrowLeft: ["ArrowLeft", 37], ArrowUp: ["ArrowUp", 38],
  ArrowRight: ["ArrowRight", 39], ArrowDown: ["ArrowDown", 40], PageDown: ["PageDown", 34]};
const TEXT_OF = {Enter: "\r", " ": " "};

// name: "chromium" or "firefox"
export const openBrowser = (name = "chromium") => name === "firefox" ? openFirefox() : openChromium();

async function openChromium() {
  const folder = mkdtempSync(join(tmpdir(), "browser-"));
  const child = spawn("chromium", [...FLAGS, "--user-data-dir=" + folder],
    {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
  const waiting = new Map(), listeners = [];
  let last = 0, rest = "";
  child.stdio[4].setEncoding("utf8").on("data", chunk => {
    const messages = (rest + chunk).split("\0");
    rest = messages.pop();
    for (const message of messages.map(text => JSON.parse(text))) {
      const {resolve, reject} = waiting.get(message.id) || {};
      waiting.delete(message.id);
      if (message.error)
        reject(new Error(message.error.message));
      else if (resolve)
        resolve(message.result);
      else
        listeners.forEach(listen => listen(message));
    }
  });
  const ended = new Promise(resolve => child.on("exit", resolve));
  ended.then(() => waiting.forEach(({reject}) => reject(new Error("the browser ended"))));
  const send = (method, params = {}, sessionId) => new Promise((resolve, reject) => {
    waiting.set(++last, {resolve, reject});
    child.stdio[3].write(JSON.stringify({id: last, method, params, sessionId}) + "\0");
  });
  const close = async () => {
    await send("Browser.close").catch(() => {});
    await ended;
    rmSync(folder, {recursive: true, force: true, maxRetries: 5});
  };
  const openTab = async () => {
    const {targetId} = await send("Target.createTarget", {url: "about:blank"});
    const {sessionId} = await send("Target.attachToTarget", {targetId, flatten: true});
    const call = (method, params) => send(method, params, sessionId);
    await Promise.all(["Page.enable", "Runtime.enable", "Network.enable"].map(method => call(method)));
    return makeTab(call, listen => listeners.push(m => m.sessionId === sessionId && listen(m)));
  };
  return {openTab, close};
}

// One page: `errors` and `requests` are what it threw and what it asked for.
function makeTab(call, listen) {
  const errors = [], requests = [];
  let loaded = () => {};
  listen(({method, params}) => {
    if (method === "Runtime.exceptionThrown")
      errors.push(params.exceptionDetails.exception?.description || params.exceptionDetails.text);
    if (method === "Network.requestWillBeSent")
      requests.push(params.request.url);
    if (method === "Page.loadEventFired")
      loaded();
  });
  const evaluate = async expression => {
    const {result, exceptionDetails} =
      await call("Runtime.evaluate", {expression, returnByValue: true, awaitPromise: true});
    if (exceptionDetails)
      throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
    return result.value;
  };
  const mouse = (type, x, y, more = {}) => call("Input.dispatchMouseEvent", {type, x, y, ...more});
  const held = {button: "left", buttons: 1, clickCount: 1};
  const middleOf = selector => evaluate(`(() => {
    const element = document.querySelector(${JSON.stringify(selector)});
    if (!element) throw new Error("nothing at " + ${JSON.stringify(selector)});
    element.scrollIntoViewIfNeeded();
    const box = element.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  })()`);
  return {
    call, evaluate, errors, requests,
    // A page of its own each time: another hash of the one shown would load nothing.
    async goTo(address) {
      for (const url of ["about:blank", address]) {
        const done = new Promise(resolve => loaded = resolve);
        await call("Page.navigate", {url});
        await done;
      }
    },
    resize: (width, height) => call("Emulation.setDeviceMetricsOverride",
      {width, height, deviceScaleFactor: 1, mobile: false}),
    // media: "screen" or "print"; features such as {"prefers-color-scheme": "dark"}
    emulate: (media, features = {}) => call("Emulation.setEmulatedMedia",
      {media, features: Object.entries(features).map(([name, value]) => ({name, value}))}),
    async press(key, {shift = false} = {}) {
      const [code, number] = KEYS[key] || ["", key.toUpperCase().charCodeAt(0)];
      const text = TEXT_OF[key] || (key.length === 1 ? key : undefined);
      const event = {key, code, windowsVirtualKeyCode: number, modifiers: shift ? 8 : 0};
      await call("Input.dispatchKeyEvent", {type: text ? "keyDown" : "rawKeyDown", text, ...event});
      await call("Input.dispatchKeyEvent", {type: "keyUp", ...event});
    },
    type: text => call("Input.insertText", {text}),
    point: (x, y) => mouse("mouseMoved", x, y),
    async click(selector) {
      const [x, y] = await middleOf(selector);
      await mouse("mouseMoved", x, y);
      await mouse("mousePressed", x, y, held);
      await mouse("mouseReleased", x, y, held);
    },
    async drag(selector, dx, dy) {
      const [x, y] = await middleOf(selector);
      await mouse("mouseMoved", x, y);
      await mouse("mousePressed", x, y, held);
      for (const part of [.5, 1])
        await mouse("mouseMoved", x + dx * part, y + dy * part, held);
      await mouse("mouseReleased", x + dx, y + dy, held);
    },
    async picture(path) {
      const {data} = await call("Page.captureScreenshot", {format: "png"});
      writeFileSync(path, Buffer.from(data, "base64"));
    },
  };
}

export function need(ok, what) {
  if (!ok)
    throw new Error(what);
}
// As soon as it is so in the page of the tab.
export async function waitFor(tab, expression, what) {
  for (let i = 0; i < 400; i++) {
    if (await tab.evaluate(expression))
      return;
    await new Promise(resolve => setTimeout(resolve, 25));
  }
  throw new Error(`${what}: ${(await tab.evaluate("document.body.innerText")).slice(0, 300)}`);
}
// Whether a page that tfc compile makes has answered what was typed.
export const isDone = "/^\\d+ ms$/.test(byId('status').textContent) && !byId('answers').classList.contains('old')";
