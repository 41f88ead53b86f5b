// #selftest: from a source line to assembly and back, by clicks and keys.

function need(ok, what) {
  if (!ok)
    throw new Error(what);
}

function clickOn(target) {
  const element = typeof target === "string" ? document.querySelector(target) : target;
  need(element, "nothing at " + target);
  element.dispatchEvent(new MouseEvent("click", {bubbles: true}));
}

const press = key => document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
const shown = id => getComputedStyle(byId(id)).display !== "none";

function lineWithKernel() {
  const lines = [...all("#source .line.has")].map(element => element.dataset.line);
  return lines.find(line => steps.some(step =>
    step.kernel >= 0 && linesOf(stages[LAST].byId.get(step.op)).has(line)));
}

function testWayToAssembly(line) {
  clickOn(`[data-line="${line}"]`);
  need(state.kernel >= 0, "no kernel for line " + line);
  stages.forEach((stage, i) => {
    clickOn(`[data-stage="${i}"]`);
    need(document.querySelector("#ops .at"), `line ${line} has no op after ${stage.name}`);
  });
  clickOn('[data-tab="llvm"]');
  need(shown("llvm") && /^define/m.test(byId("llvm").textContent), "no LLVM IR");
  press("a");
  need(shown("asm") && /\tret/.test(byId("asm").textContent), "no assembly");
  for (const kernel of kernels)
    need(kernel.llvm.length > 50 && kernel.assembly.length > 20, "no text of kernel " + kernel.name);
}

function testWayBack(line) {
  const kernel = state.kernel;
  press("s");
  clickOn(`[data-step="${state.step}"]`);
  need(document.querySelector(`.near[data-line="${line}"], .call[data-line="${line}"]`),
    "the step does not lead back to " + line);
  need(document.querySelector("#ops .at"), "the step does not lead to an op");
  need(state.kernel === kernel, "another kernel on the way back");
}

function testPanes() {
  press("f");
  need([...all("#ops .op")].length > 0, "nothing is left of what is selected");
  press("f");
  press("g");
  need(all("#graph .node").length > 2, "no graph");
  need(document.querySelector("#graph .node.sel"), "nothing is marked in the graph");
  const box = document.querySelector("#graph .open");
  if (box) {
    clickOn(box);
    need(state.root, "a box does not open");
  }
  clickOn("#slab .b");
  need(state.step >= 0 && document.querySelector("#slab .b.at"), "a buffer selects nothing");
  press("r");
  need(all("#report .told").length > 0, "no report");
  press("o");
  press("Escape");
  need(!document.querySelector(".at"), "the selection stays");
}

function testAddress(line) {
  openAddress("#line=" + lineName(line) + "/llvm");
  need(state.lines.has(line) && shown("llvm"), "the address does not lead to " + line);
  press("s");
}

// Each line that has ops selects some at every stage that has not replaced all of them.
function testLines() {
  for (const element of all("#source .line.has")) {
    state.lines = new Set([element.dataset.line]);
    state.op = null;
    need(selectedIds(0).size > 0, "nothing comes from " + lineName(element.dataset.line));
  }
  state.lines = new Set();
}

function writeVerdict() {
  let verdict = "PASS";
  try {
    const line = lineWithKernel();
    need(line, "no source line has a kernel");
    testWayToAssembly(line);
    testWayBack(line);
    testPanes();
    testAddress(line);
    testLines();
  } catch (error) {
    verdict = "FAIL: " + error.message;
  }
  document.body.insertAdjacentHTML("beforeend", `<div id="verdict">selftest ${escapeHtml(verdict)}</div>`);
}
