// Clicks, keys, and the start.

const clicked = {
  root: scope => openScope(scope),
  line: (line, element) => select([line], null, element.closest("#source") ? "source" : "bar"),
  op: record => selectOp(records[record], "ops"),
  step: index => selectStep(+index, "steps"),
  loop: line => selectLoop(+line),
  told: index => select(told[index].lines, null, "report"),
  buffer: index => buffers[index].writer >= 0 && selectStep(buffers[index].writer, "slab"),
  part: part => showPart(part),
  node: index => selectNode(drawn[index]),
  tab: id => showPane(id),
  stage: index => setStage(+index),
  pass: by => setStage(state.stage + +by),
  file: number => goToFile(number),
  nofind: () => setFind(""),
  nothing: () => select([], null, "bar"),
  everything: () => setFilter("only", false),
};
const TARGETS = Object.keys(clicked);

document.addEventListener("click", event => {
  const element = event.target.closest(TARGETS.map(name => `[data-${name}]`).join(","));
  if (!element || event.detail > 1 && element.dataset.node !== undefined)
    return;
  const body = element.closest(".body"), pane = body && paneOf(body.id);
  if (pane && pane.rows && element.matches(pane.rows))
    setCursor(body, element);
  const target = TARGETS.find(name => element.dataset[name] !== undefined);
  clicked[target](element.dataset[target], element);
});

// The first click of a double one has drawn the graph anew: what is below the pointer counts.
document.addEventListener("dblclick", event => {
  const below = document.elementFromPoint(event.clientX, event.clientY);
  const element = below && below.closest("#graph [data-node]");
  if (element)
    openNode(element);
});

const changes = {
  only: box => setFilter("only", box.checked),
  changes: box => setFilter("changes", box.checked),
  backward: box => {
    state.backward = box.checked;
    drawGraph();
  },
};
document.addEventListener("change", event => {
  const element = event.target;
  if (changes[element.id])
    changes[element.id](element);
  else if (element.dataset.wrap)
    setWrap(paneOf(element.dataset.wrap), element.checked);
  else if (element.classList.contains("kernel")) {
    state.kernel = +element.value;
    markAll();
  }
});
byId("find").addEventListener("input", () => setFind(byId("find").value));

// ---- themes ----

const THEMES = [["", "◐", "as the system"], ["light", "☀", "light"], ["dark", "☾", "dark"]];

function setTheme(name) {
  const [theme, sign, said] = THEMES.find(t => t[0] === name) || THEMES[0];
  document.documentElement.style.colorScheme = theme;
  byId("theme").textContent = sign;
  byId("theme").title = `colours: ${said}`;
  byId("theme").setAttribute("aria-label", `colours: ${said}`);
  byId("theme").dataset.theme = theme;
  keep("theme", theme);
}
byId("theme").addEventListener("click", () => {
  const at = THEMES.findIndex(t => t[0] === byId("theme").dataset.theme);
  setTheme(THEMES[(at + 1) % THEMES.length][0]);
});

// ---- keys ----

const KEYS = [
  ["[", "the pass before", () => setStage(state.stage - 1)],
  ["]", "the pass after", () => setStage(state.stage + 1)],
  ["j", "the next selected op", () => visitSelected(1)],
  ["k", "the previous selected op", () => visitSelected(-1)],
  ["f", "only what is selected, or everything", () => setFilter("only", !state.only)],
  ["c", "only what the pass changed, or everything", () => setFilter("changes", !state.changes)],
  ["/", "find", () => byId("find").focus()],
  ["?", "this help", () => byId("help").showModal()],
  ["Escape", "select nothing", () => select([], null, "key")],
  ...PANES.map(pane => [pane.key, pane.title + ": " + pane.help, () => showPane(pane.id)]),
];
const MORE_KEYS = [
  ["Tab", "to the next group of controls, list or separator"],
  ["arrows", "within it: rows of a list, boxes of the graph, tabs, passes, the size of a pane"],
  ["Enter", "select the row or box; in the search: go to what is found"],
  ["+ −", "in the graph: open the box, back to what is around it"],
];

const GLOSSARY = [
  ["scope", "the block that an op belongs to, with those around it: encoder.layer.0.self"],
  ["B, S~", "dimensions known only when a batch arrives; ~: each sentence has its own length"],
  ["%12", "a value, by its number; a pass keeps the numbers of what it leaves alone"],
  ["∂", "of the backward: gradients"],
  ["product", "a product of matrices, by a library or a kernel of our own"],
  ["region", "ops fused into one kernel: row, column, attention"],
  ["slab", "the one block of memory in which all values of a step lie"],
];

function drawHelp() {
  const rows = (keys, tag = "kbd") => keys.map(([key, what]) =>
    `<tr><td><${tag}>${escapeHtml(key)}</${tag}></td><td>${escapeHtml(what)}</td></tr>`).join("");
  const others = KEYS.slice(0, -PANES.length);
  byId("help").innerHTML = `<form method="dialog"><button autofocus>Close</button></form><h2 id="helptitle">The compilation of ${escapeHtml(modelName)}</h2>
<p>The model's text becomes a graph of ops; each pass above makes another of it; the last one is a list of
steps, and kernels among them become machine code. A click on a line of the model, an op, a box, a step, a line of loop IR,
a bar of the memory or a line of the report selects what belongs to it everywhere.</p>
<h3>Panes</h3><table>${rows(KEYS.slice(-PANES.length))}</table>
<h3>Keys</h3><table>${rows([...others, ...MORE_KEYS])}</table>
<h3>Words</h3><table>${rows(GLOSSARY, "b")}</table>`;
}
byId("keys").addEventListener("click", () => byId("help").showModal());
byId("help").addEventListener("click", event => event.target === byId("help") && byId("help").close());

function findKey(key) {
  if (key === "Enter")
    goToFound();
  else if (key === "Escape" && !words.length)
    byId("find").blur();
  else if (key === "Escape")
    setFind("");
  else
    return false;
  return true;
}

// True if the key meant something where the focus is, or anywhere.
function handleKey(target, key, shift) {
  if (target.id === "find")
    return findKey(key);
  if (target.dataset.separator && separatorKey(target, key, shift))
    return true;
  const group = target.closest("[role=tablist], [role=radiogroup]");
  if (group && groupKey(group, key))
    return true;
  if (target.matches(".body") && paneOf(target.id).rows && listKey(target, key))
    return true;
  const row = target.tagName !== "SELECT" && KEYS.find(([name]) => name === key);
  if (row)
    row[2]();
  return Boolean(row);
}

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.altKey || event.metaKey || byId("help").open)
    return;
  if (handleKey(event.target, event.key, event.shiftKey))
    event.preventDefault();
});

function start() {
  byId("title").textContent = modelName + " · " + DATA.function;
  byId("title").title = DATA.title;
  byId("dims").textContent = DATA.dims.map(d => d.join(" = ")).join(", ");
  document.title = `${DATA.function} of ${modelName}`;
  setTheme(kept("theme", ""));
  PANES.forEach(makePane);
  drawHelp();
  drawStages();
  arrange();
  setStage(0);
  byId("stages").addEventListener("wheel", event => byId("stages").scrollLeft += event.deltaY, {passive: true});
  byId("slab").addEventListener("mousemove", event => tellBuffer(buffers[event.target.dataset.buffer]));
  byId("slab").addEventListener("mouseleave", () => tellBuffer(null));
}

start();
if (location.hash)
  openAddress(location.hash);
addressIsRead = false;
addEventListener("hashchange", () => location.hash === currentAddress() || openAddress(location.hash));
