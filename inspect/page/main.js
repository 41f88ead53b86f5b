// Clicks, keys, and the start.

const TARGETS = ["root", "back", "line", "op", "step", "told", "buffer", "node", "tab", "stage"];

const clicked = {
  root: scope => openScope(scope),
  back: () => {
    state.backward = !state.backward;
    drawGraph();
  },
  line: line => select([line], null, "source"),
  op: record => selectOp(records[record], "ops"),
  step: index => selectStep(+index, "steps"),
  told: index => select(told[index].lines, null, "report"),
  buffer: index => buffers[index].writer >= 0 && selectStep(buffers[index].writer, "slab"),
  node: index => selectNode(drawn[index]),
  tab: (tab, element) => setTab(element.parentNode.dataset.group, tab),
  stage: index => setStage(+index),
};

document.addEventListener("click", event => {
  const element = event.target.closest(TARGETS.map(name => `[data-${name}]`).join(","));
  if (!element || event.detail > 1 && element.dataset.node !== undefined)
    return;
  const target = TARGETS.find(name => element.dataset[name] !== undefined);
  clicked[target](element.dataset[target], element);
});

// The first click of a double one has drawn the graph anew: what is below the pointer counts.
document.addEventListener("dblclick", event => {
  const below = document.elementFromPoint(event.clientX, event.clientY);
  const element = below && below.closest("#graph [data-node]");
  const node = element && drawn[element.dataset.node];
  if (node && node.scope)
    openScope(node.scope);
});

byId("slab").addEventListener("mousemove", event => {
  const buffer = buffers[event.target.dataset.buffer];
  byId("slabtext").textContent = buffer ? bufferText(buffer) : describeSlab();
});
byId("slab").addEventListener("mouseleave", () => byId("slabtext").textContent = describeSlab());
byId("find").addEventListener("input", () => {
  state.from = "find";
  drawOps();
  mark();
});
byId("only").addEventListener("change", event => setOnly(event.target.checked));
byId("kernel").addEventListener("change", event => {
  state.kernel = +event.target.value;
  drawKernel();
});
byId("keys").addEventListener("click", () => byId("help").showModal());
byId("help").addEventListener("click", () => byId("help").close());

const keys = {
  "[": () => setStage(state.stage - 1),
  "]": () => setStage(state.stage + 1),
  j: () => visitSelected(1),
  k: () => visitSelected(-1),
  o: () => setTab("middle", "ops"),
  g: () => setTab("middle", "graph"),
  r: () => setTab("middle", "report"),
  s: () => setTab("right", "steps"),
  l: () => setTab("right", "llvm"),
  a: () => setTab("right", "asm"),
  f: () => setOnly(!state.only),
  "/": () => byId("find").focus(),
  "?": () => byId("help").showModal(),
  Escape: () => select([], null, "key"),
};

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.altKey || event.metaKey || byId("help").open)
    return;
  if (event.target.id === "find") {
    if (event.key === "Escape" || event.key === "Enter")
      event.target.blur();
    return;
  }
  if (event.target.tagName !== "SELECT" && keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
});

function start() {
  byId("title").textContent = baseName(DATA.title) + " · " + DATA.function;
  byId("title").title = DATA.title;
  byId("dims").textContent = DATA.dims.map(d => d.join(" = ")).join(", ");
  document.title = `${DATA.function} of ${baseName(DATA.title)}`;
  byId("stages").innerHTML = stages.map((stage, i) =>
    `<button data-stage="${i}" title="${escapeHtml(stage.help)}">${escapeHtml(stage.name)}</button>`
  ).join("");
  drawSource();
  drawReport();
  drawSteps();
  drawSlab();
  setTab("middle", "ops");
  setTab("right", "steps");
  setStage(LAST);
}

// "#line=prelude.tfg:9/graph/asm": a line is selected, and these tabs are open.
function openAddress(hash) {
  const address = decodeURIComponent(hash).replace(/^#line=/, "");
  const [name, ...tabs] = address.split("/");
  const line = [...all("#source .line")].map(e => e.dataset.line).find(l => lineName(l) === name);
  if (line)
    select([line], null, "address");
  for (const button of all("[data-tab]"))
    if (tabs.includes(button.dataset.tab))
      setTab(button.parentNode.dataset.group, button.dataset.tab);
}

start();
if (location.hash === "#selftest")
  writeVerdict();
else if (location.hash)
  openAddress(location.hash);
window.addEventListener("hashchange", () => openAddress(location.hash));
