// The page of `tfc dump --format html` in a headless Chromium, with real keys and pointer:
// its selftest in every layout, sizes, focus, narrow screens, themes, paper, the way back.
// Usage: node page.mjs PAGE.html PAGE_WITH_SELFTEST.html
import {pathToFileURL} from "node:url";
import {statSync} from "node:fs";
import {openBrowser} from "./browser.mjs";

const page = process.argv[2], address = pathToFileURL(page).href, tried = pathToFileURL(process.argv[3]).href;
const WIDE = [1600, 950], MEDIUM = [800, 700], NARROW = [400, 800];
const browser = await openBrowser();
const tab = await browser.openTab();
const failures = [];

function need(ok, what) {
  if (!ok)
    throw new Error(what);
}
async function openPage([width, height], hash = "") {
  await tab.resize(width, height);
  await tab.goTo(address + hash);
}
const boxOf = selector => tab.evaluate(`(() => {
  const b = document.querySelector(${JSON.stringify(selector)})?.getBoundingClientRect();
  return b && {x: b.x, y: b.y, width: b.width, height: b.height};
})()`);
const textOf = selector => tab.evaluate(`(e => e?.innerText ?? e?.textContent ?? "")` +
  `(document.querySelector(${JSON.stringify(selector)}))`);
const isOn = selector => tab.evaluate(`Boolean(document.querySelector(${JSON.stringify(selector)})?.checkVisibility())`);

const tests = {
  async "its selftest, in each layout"() {
    for (const size of [WIDE, MEDIUM, NARROW]) {
      await tab.resize(...size);
      await tab.goTo(tried);
      const verdict = await textOf("#verdict");
      need(verdict === "selftest PASS", `${size[0]} wide: ${verdict || "no verdict"}`);
      need((await textOf("h1")).startsWith("multi30k_tiny · "), "the title does not name the model");
    }
  },

  async "nothing from outside"() {
    const others = tab.requests.filter(url => !url.startsWith(address) && url !== tried && url !== "about:blank" && url !== "data:,");
    need(!others.length, "it asks for " + others[0]);
    need((await tab.evaluate("document.querySelector('meta[http-equiv]')?.content ?? ''")).includes("default-src 'none'"),
      "nothing keeps it from asking");
  },

  async "little beside its data"() {
    const data = await tab.evaluate("new TextEncoder().encode(document.getElementById('data').textContent).length");
    const rest = statSync(page).size - data;
    need(rest < 105e3, `style and script take ${rest} bytes`);
  },

  async "panes sized by the pointer, and sizes kept"() {
    await openPage(WIDE);
    for (const [name, dx, dy] of [["left", 120, 0], ["right", -90, 0], ["bottom", 0, -60]]) {
      const before = await boxOf("section." + name);
      need(before, `no place ${name}`);
      await tab.drag(`[data-separator=${name}]`, dx, dy);
      const after = await boxOf("section." + name);
      need(Math.abs(after.width - before.width - Math.abs(dx)) < 4 &&
        Math.abs(after.height - before.height - Math.abs(dy)) < 4, `${name} does not follow the pointer`);
      await openPage(WIDE);
      const kept = await boxOf("section." + name);
      need(Math.abs(kept.width - after.width) < 4 && Math.abs(kept.height - after.height) < 4, `${name} is not kept`);
    }
    await tab.evaluate("localStorage.clear()");
  },

  // Every control is a stop or in a group that is one, and shows that it has the focus.
  async "focus reaches everything and is seen"() {
    for (const size of [WIDE, NARROW]) {
      await openPage(size);
      const stops = [];
      for (let i = 0; i < 80; i++) {
        await tab.press("Tab");
        const stop = await tab.evaluate(`(() => {
          const e = document.activeElement, b = e.getBoundingClientRect(), style = getComputedStyle(e);
          const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
          return {name: e.id || e.dataset?.separator || Object.keys(e.dataset ?? {})[0] || e.tagName, seen,
            inside: b.left >= -1 && b.right <= innerWidth + 1 && b.top >= -1 && b.bottom <= innerHeight + 1};
        })()`);
        if (stop.name === "BODY" || stops.some(s => s.name === stop.name && stop.name === "find"))
          break;
        stops.push(stop);
      }
      const names = stops.map(stop => stop.name);
      const wanted = ["find", "theme", "keys", "stage", "source", ...(size === WIDE ? ["tab-graph", "graph", "tab-steps",
        "steps", "slab", "left", "right", "bottom"] : ["tab-source"])];
      for (const name of wanted)
        need(names.includes(name), `Tab does not reach ${name} at ${size[0]}: ${names.join(" ")}`);
      const hidden = stops.find(stop => !stop.seen || !stop.inside);
      need(!hidden, `no focus is seen on ${hidden?.name} at ${size[0]}`);
    }
  },

  async "a line, its ops and steps by keys alone"() {
    await openPage(WIDE);
    await tab.press("/");
    await tab.type("softmax");
    await tab.press("Enter");
    need(await tab.evaluate("document.activeElement.id") === "ops", "Enter in the search does not lead to the ops");
    const hits = await tab.evaluate("document.querySelectorAll('#ops .op').length");
    need(hits > 0, "no softmax where the page opens");
    await tab.press("ArrowDown");
    await tab.press("Enter");
    need(await isOn("#ops .op.at.cursor"), "Enter selects nothing");
    need(/softmax/.test(await textOf("#source .near")), "the source does not show the softmax");
    await tab.press("a");
    need(/^\d+ lines? of constants.*\n\S+:/.test(await textOf("#asm")), "assembly does not open on its kernel");
    await tab.press("Escape");
    need(!await isOn("#selection.on"), "Escape does not end the selection");
  },

  async "a line of loop IR and the model's line, by the pointer and by keys"() {
    await openPage(WIDE);
    const row = n => `#loops [data-loop="${n}"]`;
    const nearLine = () => tab.evaluate(`[...document.querySelectorAll("#source .near code")].map(e => e.textContent).join()`);
    const marked = () => tab.evaluate(`[...document.querySelectorAll("#loops .at, #loops .near")].map(e => e.textContent).join("\\n")`);
    const sourceOf = text => tab.evaluate(`[...document.querySelectorAll("#source .line")]
      .find(e => e.textContent.includes(${JSON.stringify(text)})).dataset.line`);
    const norm = await sourceOf("rsqrt(mean(centred * centred"), centred = await sourceOf("centred = x - mean(x, -1)");
    await tab.evaluate(`document.querySelector('#source [data-line="${norm}"]').scrollIntoView({block: "center"})`);
    await tab.click(`#source [data-line="${norm}"]`);
    await tab.press("i");
    need(/ sqrt /.test(await marked()), "the line of a norm does not lead to its root");
    const other = await tab.evaluate(`[...document.querySelectorAll("#loops .loop:not(.near)")]
      .find(e => /accumulator/.test(e.textContent))?.dataset.loop`);
    need(other !== undefined, "every sum is of the norm's second line");
    await tab.evaluate(`document.querySelector('${row(other)}').scrollIntoView({block: "center"})`);
    await tab.click(row(other));
    need(await isOn(`#source .near[data-line="${centred}"]`), `the sum leads to ${await nearLine()}`);
    need(!/ sqrt /.test(await marked()), "the root is marked as the mean's");
    const before = await tab.evaluate("document.querySelector('#loops .cursor').dataset.loop");
    for (let i = 0; i < 200 && !/ sqrt /.test(await textOf("#loops .cursor")); i++)
      await tab.press("ArrowDown");
    need(await tab.evaluate("document.querySelector('#loops .cursor').dataset.loop") !== before, "arrows do not move in the loop IR");
    await tab.press("Enter");
    need(await isOn(`#source .near[data-line="${norm}"]`), `Enter on the root leads to ${await nearLine()}`);
    await tab.press("Escape");
  },

  async "a graph by keys"() {
    await openPage(WIDE);
    await tab.evaluate("document.getElementById('graph').focus()");
    const start = await textOf("#graph .cursor text");
    for (const key of ["ArrowDown", "ArrowRight", "ArrowDown"])
      await tab.press(key);
    need(await textOf("#graph .cursor text") !== start, "arrows do not move in the graph");
    for (let i = 0; i < 6 && !await isOn("#graph .group.cursor"); i++)
      await tab.press("ArrowDown");
    await tab.press("+");
    need((await textOf("#graph .crumbs")).includes("›"), "+ does not open the box");
    await tab.press("-");
    need(!(await textOf("#graph .crumbs")).includes("›"), "- does not lead back");
  },

  async "a double click opens a box"() {
    await openPage(WIDE);
    const {x, y, width, height} = await boxOf("#graph .group rect");
    const at = {x: x + width / 3, y: y + height / 2, button: "left"};
    for (const clickCount of [1, 2])
      for (const type of ["mousePressed", "mouseReleased"])
        await tab.call("Input.dispatchMouseEvent", {type, clickCount, ...at});
    need((await textOf("#graph .crumbs")).includes("›"), "no box opens");
  },

  async "a narrow screen"() {
    await openPage(NARROW);
    const header = await boxOf("header"), first = await boxOf("#source .line");
    need(header.height <= 60, `the header takes ${header.height} of 800`);
    need(first.y <= 230, `the first line stands at ${first.y} of 800`);
    need(await tab.evaluate("document.documentElement.scrollWidth") <= 400, "the page is wider than the screen");
    await tab.click("#source .line.has");
    for (const id of ["graph", "ops", "report", "steps", "loops", "llvm", "asm", "slab"]) {
      await tab.evaluate(`document.getElementById("tab-${id}").scrollIntoView({inline: "nearest"})`);
      await tab.click("#tab-" + id);
      const body = await boxOf("#" + id);
      need(body.width > 390 && body.height > 450, `${id} has ${body.width} × ${body.height}`);
    }
  },

  async "colours of both themes"() {
    for (const theme of ["light", "dark"]) {
      await tab.emulate("screen", {"prefers-color-scheme": theme});
      await openPage(WIDE);
      const poor = await tab.evaluate(`(${findPoorContrast})()`);
      need(!poor.length, `${theme}: ${poor.join(", ")}`);
    }
    await tab.emulate("screen", {"prefers-color-scheme": "light"});
    const back = () => tab.evaluate("getComputedStyle(document.body).backgroundColor");
    await openPage(WIDE);
    const light = await back();
    await tab.click("#theme");
    need(await back() === light, "another light theme");
    await tab.click("#theme");
    const dark = await back();
    need(dark !== light, "the button does not give a dark theme");
    await openPage(WIDE);
    need(await back() === dark, "the theme is not kept");
    await tab.evaluate("localStorage.clear()");
  },

  async "paper"() {
    await openPage(WIDE);
    await tab.emulate("print", {"prefers-color-scheme": "dark"});
    need(await tab.evaluate("getComputedStyle(document.body).backgroundColor") === "rgb(255, 255, 255)", "it prints dark");
    for (const selector of ["#find", ".separator", "#tab-asm", "#theme"])
      need(!await isOn(selector), selector + " is printed");
    const clipped = await tab.evaluate(`[...document.querySelectorAll(".pane.on .body, .pane.on .line")]
      .filter(e => e.scrollHeight > e.clientHeight + 2 || e.scrollWidth > e.clientWidth + 2)
      .map(e => e.id || e.className)`);
    need(!clipped.length, "on paper there is clipped: " + clipped.join(" "));
    await tab.emulate("screen", {});
  },

  async "the way back"() {
    await openPage(WIDE);
    const lines = await tab.evaluate(`[...document.querySelectorAll("#source .line.has")].slice(0, 2).map(e => e.dataset.line)`);
    for (const line of lines)
      await tab.click(`#source [data-line="${line}"]`);
    const near = () => tab.evaluate(`document.querySelector("#source .near")?.dataset.line ?? ""`);
    need(await near() === lines[1], "a click selects another line");
    await tab.evaluate(`new Promise(done => { addEventListener("hashchange", () => setTimeout(done)); history.back(); })`);
    need(await near() === lines[0], "the back button does not lead to the line before");
    const hash = await tab.evaluate("location.hash");
    await openPage(WIDE, hash);
    need(await near() === lines[0], `${hash} does not lead there`);
  },
};

// Runs in the page: texts whose colour is less than 4.5 : 1 from what is behind them.
function findPoorContrast() {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const known = new Map();
  const rgb = colour => known.get(colour) ?? known.set(colour, read(colour)).get(colour);
  const read = colour => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const colour = rgb(getComputedStyle(e).backgroundColor);
      if (colour[3] > 200)
        return colour;
    }
    return [255, 255, 255];
  };
  const poor = new Set();
  document.querySelector("#source .line.has").click();
  for (const id of ["ops", "report", "loops", "llvm", "graph"]) {
    document.getElementById("tab-" + id).click();
    for (const e of [...document.querySelectorAll("body *")].slice(0, 4000)) {
      const text = [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim());
      if (!text || e.closest("svg, script") || !e.checkVisibility() || getComputedStyle(e).opacity < 1)
        continue;
      const [a, b] = [luminance(rgb(getComputedStyle(e).color)), luminance(behind(e))].sort((x, y) => y - x);
      if ((a + .05) / (b + .05) < 4.5)
        poor.add(`${e.tagName.toLowerCase()}${e.id && "#" + e.id}.${e.className} has ${((a + .05) / (b + .05)).toFixed(2)}`);
    }
  }
  return [...poor];
}

try {
  for (const [name, test] of Object.entries(tests))
    await test().catch(error => failures.push(`${name}: ${error.message}`));
  if (tab.errors.length)
    failures.push("an error in the page: " + tab.errors[0]);
} finally {
  await browser.close();
}
failures.forEach(failure => console.log("FAILED: " + failure));
process.exit(failures.length ? 1 : 0);
