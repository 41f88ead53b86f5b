// Where the panes stand: in columns with separators between them, or behind one another
// where there is less room. Panes are the table in panes.js; columns are this one.

// Into which place each column's panes go; `least` is the width of the window.
const LAYOUTS = [
  {name: "wide", least: 1100, left: "left", middle: "middle", right: "right", bottom: "bottom"},
  {name: "medium", least: 601, left: "left", middle: "rest", right: "rest", bottom: "bottom"},
  {name: "narrow", least: 0, left: "single", middle: "single", right: "single", bottom: "single"},
];
// A separator sizes the place of its name, in percent of the window's part for panes:
// `sign` tells which way makes it larger, `beside` whose size it shares the room with.
const SEPARATORS = [
  {name: "left", axis: "x", sign: 1, usual: 26, beside: "right", what: "source"},
  {name: "right", axis: "x", sign: -1, usual: 37, beside: "left", what: "steps and code"},
  {name: "bottom", axis: "y", sign: -1, usual: 24, what: "memory"},
];
const LEAST = 8, ROOM = 92; // percent: of a place, and of two beside each other

let layout;
const sizes = Object.fromEntries(SEPARATORS.map(s => [s.name, kept("size." + s.name, s.usual)]));
const panesAt = place => PANES.filter(pane => layout[pane.column] === place);
const paneOf = id => PANES.find(pane => pane.id === id);
const isShown = pane => state.shown[layout[pane.column]] === pane.id;

function makePane(pane) {
  const role = pane.rows ? 'role="listbox" aria-multiselectable="true"' : 'role="region"';
  pane.element = document.createElement("div");
  Object.assign(pane.element, {id: "pane-" + pane.id, className: "pane"});
  pane.element.setAttribute("role", "tabpanel");
  pane.element.setAttribute("aria-labelledby", "tab-" + pane.id);
  pane.element.innerHTML =
    `<div id="${pane.id}" class="body" tabindex="0" ${role} aria-label="${pane.title}"></div>`;
  pane.tools = document.createElement("div");
  pane.tools.className = "tools";
  const wrap = pane.wraps === undefined ? "" :
    `<label title="long lines go on below"><input type="checkbox" data-wrap="${pane.id}"> wrap</label>`;
  pane.tools.innerHTML = (pane.toolbar ? pane.toolbar() : "") + wrap;
  pane.stale = true;
  if (wrap)
    setWrap(pane, kept("wrap." + pane.id, pane.wraps));
}

function setWrap(pane, on) {
  pane.element.firstElementChild.classList.toggle("wrap", on);
  pane.tools.querySelector("[data-wrap]").checked = on;
  keep("wrap." + pane.id, on);
}

function makeSection(place) {
  const section = document.createElement("section"), panes = panesAt(place);
  section.className = place;
  section.innerHTML = `<div class="bar"><div class="tabs" role="tablist" aria-label="panes">${panes.map(pane =>
    `<button role="tab" id="tab-${pane.id}" data-tab="${pane.id}" aria-controls="pane-${pane.id}" ` +
    `title="${escapeHtml(pane.help)} ( ${pane.key} )">${pane.title}</button>`).join("")}</div></div>`;
  section.firstElementChild.append(...panes.map(pane => pane.tools));
  section.append(...panes.map(pane => pane.element));
  return section;
}

function makeSeparator(separator) {
  const vertical = separator.axis === "x";
  const element = document.createElement("div");
  element.className = `separator ${separator.axis} of-${separator.name}`;
  const attributes = {role: "separator", tabindex: 0, "data-separator": separator.name, "aria-valuemin": LEAST,
    "aria-orientation": vertical ? "vertical" : "horizontal", "aria-label": "size of " + separator.what,
    title: "drag, or arrow keys; a double click or Enter: the usual size"};
  for (const [name, value] of Object.entries(attributes))
    element.setAttribute(name, value);
  return element;
}

// Builds the layout that fits the window, if it is another one.
function arrange() {
  const fits = LAYOUTS.find(one => innerWidth >= one.least);
  if (fits === layout)
    return;
  layout = fits;
  const main = byId("main"), places = new Set(PANES.map(pane => layout[pane.column]));
  main.className = layout.name;
  main.replaceChildren(...[...places].flatMap(place => {
    const separator = SEPARATORS.find(s => s.name === place);
    const parts = [makeSection(place), ...(separator ? [makeSeparator(separator)] : [])];
    return separator && separator.sign < 0 ? parts.reverse() : parts;
  }));
  SEPARATORS.forEach(separator => resize(separator, sizes[separator.name]));
  markTabs();
}

function markTabs() {
  for (const pane of PANES) {
    const shown = isShown(pane);
    choose(byId("tab-" + pane.id), shown, "aria-selected");
    pane.element.classList.toggle("on", shown);
    pane.tools.classList.toggle("on", shown);
  }
}

function showPane(id) {
  const pane = paneOf(id);
  for (const one of LAYOUTS)
    state.shown[one[pane.column]] = id;
  markTabs();
  scrollNear(byId("tab-" + id));
  state.from = "tab";
  markAll();
}

// Draws panes anew, those out of sight when they are shown.
function redraw(...ids) {
  ids.forEach(id => paneOf(id).stale = true);
  markAll();
}

// ---- separators ----

const separatorOf = element => SEPARATORS.find(s => s.name === element.dataset.separator);

function resize(separator, percent) {
  const most = separator.beside && layout.name === "wide" ? ROOM - Math.max(LEAST, sizes[separator.beside]) : ROOM - LEAST;
  const size = Math.round(Math.max(LEAST, Math.min(most, percent)) * 10) / 10;
  sizes[separator.name] = size;
  byId("main").style.setProperty("--" + separator.name, size);
  const element = document.querySelector(`[data-separator="${separator.name}"]`);
  if (!element)
    return;
  element.setAttribute("aria-valuenow", Math.round(size));
  element.setAttribute("aria-valuemax", Math.round(most));
}

function resizeAndKeep(separator, percent) {
  resize(separator, percent);
  keep("size." + separator.name, sizes[separator.name]);
}

// Arrows move the separator the way they point. True if the key was one of its.
function separatorKey(element, key, far) {
  const separator = separatorOf(element), by = far ? 8 : 2;
  const towards = separator.axis === "x" ? {ArrowRight: 1, ArrowLeft: -1} : {ArrowDown: 1, ArrowUp: -1};
  const to = {Home: LEAST, End: 100, Enter: separator.usual}[key];
  if (to === undefined && !towards[key])
    return false;
  resizeAndKeep(separator, to ?? sizes[separator.name] + separator.sign * towards[key] * by);
  return true;
}

document.addEventListener("pointerdown", event => {
  const element = event.target.closest("[data-separator]");
  if (!element || event.button)
    return;
  const separator = separatorOf(element), box = byId("main").getBoundingClientRect();
  const along = e => separator.axis === "x" ? e.clientX / box.width : e.clientY / box.height;
  const start = along(event), size = sizes[separator.name];
  const move = e => resizeAndKeep(separator, size + separator.sign * 100 * (along(e) - start));
  element.setPointerCapture(event.pointerId);
  element.classList.add("moving");
  element.addEventListener("pointermove", move);
  element.addEventListener("lostpointercapture", () => {
    element.classList.remove("moving");
    element.removeEventListener("pointermove", move);
  }, {once: true});
});

document.addEventListener("dblclick", event => {
  const element = event.target.closest("[data-separator]");
  if (element)
    resizeAndKeep(separatorOf(element), separatorOf(element).usual);
});
addEventListener("resize", () => {
  arrange();
  markAll();
});
