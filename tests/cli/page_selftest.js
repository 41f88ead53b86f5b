// What page.sh writes into a copy of the page of `tfc dump --format html`: the page tried by clicks and keys, in whatever
// layout fits the window: from a source line to assembly and back, the search, the sizes, what a reader sees first.

function need(ok, what) {
  if (!ok)
    throw new Error(what);
}

function clickOn(target) {
  const element = typeof target === "string" ? document.querySelector(target) : target;
  need(element, "nothing at " + target);
  element.dispatchEvent(new MouseEvent("click", {bubbles: true}));
}

const press = (key, target = document.body) =>
  target.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
const shown = id => byId(id).getClientRects().length > 0;
const isClipped = element => element.scrollWidth > element.clientWidth + 1;

function typeInto(text) {
  byId("find").value = text;
  byId("find").dispatchEvent(new InputEvent("input", {bubbles: true}));
}

function lineWithKernel() {
  const lines = [...all("#source .line.has")].map(element => element.dataset.line);
  return lines.find(line => steps.some(step =>
    step.kernel >= 0 && linesOf(stages[LAST].byId.get(step.op)).has(line)));
}

// A kind of op that the first stage has and the last has not, as softmax.
function kindReplaced() {
  const last = new Set(stages[LAST].ops.flatMap(op => [op, ...op.body.map(i => records[i])]).map(op => op.kind));
  return stages[0].ops.map(op => op.kind).find(kind => !last.has(kind) &&
    !stages[LAST].ops.some(op => `${op.scope} ${op.attrs}`.includes(kind)));
}

// ---- what a reader sees first ----

function testOpening() {
  need(document.querySelector('#stages .on').dataset.stage === "0", "it does not open on what the model says");
  need(shown("graph") || shown("source"), "it opens on neither graph nor source");
  const heads = [...all("#source .file")];
  need(heads[0].title === DATA.title && heads[0].textContent.includes("the model"), "the model's file is not first");
  need(heads.slice(1).every(head => head.textContent.includes("used by")), "a library is not marked as one");
  need(all("[data-file]").length === heads.length, "no way to each file");
}

function testSource() {
  press("e");
  clickOn(document.querySelector("#source .line:not(.has)"));
  need(byId("selection").textContent.includes("no op"), "a line without ops says nothing of it");
  press("Escape");
  const rows = [...all("#source .line")], box = document.querySelector("[data-wrap=source]");
  if (!box.checked)
    box.click();
  need(!isClipped(byId("source")) && !rows.some(isClipped), "a source line is clipped");
  box.click();
  need(rows.every(row => row.offsetWidth >= row.scrollWidth), "a row ends before its line");
  box.click();
  clickOn(`[data-file="${files[files.length - 1].number}"]`);
  need(byId("source").scrollTop > 0 || !byId("source").scrollHeight, "a file's button leads nowhere");
}

// ---- the search ----

function testFind() {
  const kind = kindReplaced();
  need(kind, "no kind of op is replaced");
  typeInto(kind);
  press("o");
  need(all("#ops .op.hit").length > 0, `a search for ${kind} finds nothing where the page opens`);
  clickOn(`[data-stage="${LAST}"]`);
  need(!document.querySelector("#ops .op"), `${kind} is still there in the end`);
  const said = [...all("#stages .hits")].map(hits => +hits.textContent);
  need(said[0] > 0 && said[LAST] === 0, "the passes do not say how much they have of it");
  clickOn("#ops .empty [data-stage]");
  need(state.stage < LAST && all("#ops .op.hit").length === said[state.stage], "the offer leads to nothing");
  clickOn(`[data-stage="${LAST}"]`);
  press("Enter", byId("find"));
  need(all("#ops .op.hit").length > 0 && document.activeElement === byId("ops"), "Enter does not go there");
  press("Escape", byId("find"));
  need(words.length === 0 && !document.querySelector("#found.on"), "the search does not end");
  clickOn('[data-stage="0"]');
}

function testFindNothing() {
  typeInto("no-such-thing");
  press("o");
  need(/No op matches/.test(byId("ops").textContent), "a search for nothing says nothing");
  clickOn("#ops [data-nofind]");
  need(all("#ops .op").length > 0, "the end of the search shows nothing");
}

// ---- from line to machine code and back ----

function testWayToAssembly(line) {
  press("e");
  clickOn(`#source [data-line="${line}"]`);
  need(state.kernel >= 0, "no kernel for line " + line);
  press("o");
  stages.forEach((stage, i) => {
    clickOn(`[data-stage="${i}"]`);
    need(document.querySelector("#ops .at"), `line ${line} has no op after ${stage.name}`);
  });
  clickOn('[data-tab="loops"]');
  need(shown("loops") && /^kernel @/m.test(byId("loops").textContent), "no loop IR");
  clickOn('[data-tab="llvm"]');
  need(shown("llvm") && /^define/m.test(byId("llvm").textContent), "no LLVM IR");
  press("a");
  need(shown("asm") && /\tret/.test(byId("asm").textContent), "no assembly");
  const text = byId("asm").innerText.replace(/^.*directives\n/, "").trimStart();
  need(text.startsWith(kernels[state.kernel].name + ":"), "assembly opens on " + text.split("\n")[0]);
  for (const kernel of kernels)
    need(kernel.loops.length > 50 && kernel.llvm.length > 50 && kernel.assembly.length > 20, "no text of kernel " + kernel.name);
}

function testWayBack(line) {
  const kernel = state.kernel;
  press("s");
  clickOn(`[data-step="${state.step}"]`);
  press("e");
  need(document.querySelector(`.near[data-line="${line}"], .call[data-line="${line}"]`),
    "the step does not lead back to " + line);
  press("o");
  need(document.querySelector("#ops .at"), "the step does not lead to an op");
  need(state.kernel === kernel, "another kernel on the way back");
}

// A line of loop IR to the lines of all places of its kernel, and the first of these back.
function testLoops() {
  press("s");
  clickOn(`[data-step="${steps.find(step => step.kernel >= 0).index}"]`);
  press("i");
  const {origins, ops} = kernels[state.kernel];
  const line = origins.findIndex(origin => ops[origin].some(op => !op.body.length && ownLines(op).size));
  const wanted = new Set(ops[origins[line]].flatMap(op => [...ownLines(op)]));
  const row = () => document.querySelector(`#loops [data-loop="${line}"]`);
  need(all("#loops .loop").length === origins.length, "a line of loop IR has no origin");
  clickOn(row());
  press("e");
  need([...all("#source .near")].every(e => wanted.delete(e.dataset.line)) && !wanted.size, "loop IR leads to other lines");
  clickOn("#source .near");
  press("i");
  need(row().matches(".at, .near"), "a line does not lead to its loop IR");
  press("Escape");
}

// What each step is, whole: its block heads its row, and nothing of the rest is cut.
function testSteps() {
  press("s");
  const letters = text => text.replace(/^(∂ )?(the model itself)?|\(.*|[. ]/g, "");
  let head = "";
  for (const row of byId("steps").children) {
    if (row.matches(".scope"))
      head = row.textContent;
    if (!row.dataset.step)
      continue;
    const cell = row.querySelector(".name"), {name} = steps[row.dataset.step];
    need(letters(head + cell.textContent) === letters(name), `"${name}" is told as "${head}", "${cell.textContent}"`);
    need(cell.scrollWidth <= cell.clientWidth, `the name of step ${row.dataset.step} is cut`);
  }
}

function testPanes() {
  press("f");
  need([...all("#ops .op")].length > 0, "nothing is left of what is selected");
  press("f");
  press("c");
  need(state.stage === 0 || [...all("#ops .op")].every(row => row.matches(".new, .changed, .new ~ .op, .changed ~ .op")),
    "ops that the pass left alone stay");
  press("c");
  press("g");
  need(all("#graph .node").length > 2, "no graph");
  need(document.querySelector("#graph .node.sel"), "nothing is marked in the graph");
  const box = document.querySelector("#graph .open");
  if (box) {
    clickOn(box);
    need(state.root, "a box does not open");
    clickOn('#graph [data-root=""]');
  }
  press("m");
  clickOn("#slab .b");
  need(state.step >= 0 && document.querySelector("#slab .b.at"), "a buffer selects nothing");
  press("r");
  need(all("#report .told").length > 0 || !told.length, "no report");
  press("o");
  press("Escape");
  need(!document.querySelector(".pane.on .at"), "the selection stays");
}

// Every colour of the memory stands in its legend, and the legend tells the bytes.
function testLegend() {
  press("m");
  const colours = new Set([...all("[data-part] i")].map(i => getComputedStyle(i).backgroundColor));
  for (const row of document.querySelectorAll("#slab .b:not(.odd)"))
    need(colours.has(getComputedStyle(row).fill), "no word on the colour of " + buffers[row.dataset.buffer].name);
  const peak = slabParts.reduce((sum, part) => sum + part.peak, 0);
  need(peak === DATA.slab.peak, `the parts at the peak sum to ${peak}, not ${DATA.slab.peak}`);
  clickOn("[data-part]");
  need(document.querySelector("#slab.dim .b.lit"), "a part of the legend shows nothing up");
  clickOn("[data-part]");
}

// ---- keys ----

// What can be clicked can be reached: it is a control, or a row of a list that takes the focus.
function testReach() {
  for (const element of all(TARGETS.map(name => `[data-${name}]`).join(","))) {
    const row = element.closest("[role=option]");
    need(element.matches("button") || row && row.closest("[tabindex='0'][role=listbox]"),
      "no key reaches " + element.outerHTML.slice(0, 80));
  }
  for (const element of all("button, input, select, [tabindex='0']"))
    need(element.getAttribute("aria-label") || element.textContent.trim() || element.closest("label"),
      "no name: " + element.outerHTML.slice(0, 80));
  for (const group of all("[role=tablist], [role=radiogroup]"))
    need(group.querySelectorAll("[tabindex='0']").length === 1, "a group is not one stop of the Tab key");
}

function testLists() {
  for (const pane of PANES.filter(p => p.rows)) {
    showPane(pane.id);
    const body = byId(pane.id);
    if (!rowsOf(body).length)
      continue; // a report of nothing
    body.focus();
    need(body.querySelector(".cursor"), "no cursor in " + pane.id);
    press("Home", body);
    press("Enter", body);
    const first = byId(body.getAttribute("aria-activedescendant"));
    for (const key of ["ArrowDown", "ArrowDown"])
      press(key, body);
    need(byId(body.getAttribute("aria-activedescendant")) !== first, "arrows move nothing in " + pane.id);
  }
  press("o");
  select([], null, "key");
  press("Home", byId("ops"));
  press("Enter", byId("ops"));
  need(state.op && document.querySelector("#ops .cursor.at"), "Enter selects no op");
  press("Escape", byId("ops"));
}

function testGroups() {
  const tab = byId("tab-graph");
  tab.focus();
  press("ArrowRight", tab);
  need(document.activeElement.id === "tab-ops" && shown("ops"), "an arrow does not lead to the next tab");
  const pass = document.querySelector('#stages [tabindex="0"]');
  pass.focus();
  press("End", pass);
  need(state.stage === LAST && document.activeElement.dataset.stage == LAST, "End does not lead to the last pass");
  press("Home", document.activeElement);
}

function testSizes() {
  for (const element of all("[role=separator]")) {
    const section = document.querySelector("section." + element.dataset.separator);
    const before = section.getBoundingClientRect(), separator = separatorOf(element), value = sizes[separator.name];
    press(separator.axis === "x" ? "ArrowRight" : "ArrowDown", element);
    const after = section.getBoundingClientRect();
    need((separator.axis === "x" ? after.width - before.width : after.height - before.height) * separator.sign > 1,
      `the arrows do not move the separator of ${separator.name}`);
    need(+element.getAttribute("aria-valuenow") === Math.round(sizes[separator.name]), "another size is said");
    press("End", element);
    need(section.getBoundingClientRect().right <= innerWidth + 1, "a pane leaves the window");
    press("Enter", element);
    need(sizes[separator.name] === separator.usual, "Enter does not give the usual size");
    resizeAndKeep(separator, value);
  }
}

// ---- addresses ----

function testAddress(line) {
  openAddress(`#line=${lineName(line)}/stage=${stages[1].name}/find=a/llvm`);
  need(state.lines.has(line) && shown("llvm"), "the address does not lead to " + line);
  need(state.stage === 1 && words[0] === "a", "the address leads to another pass or search");
  const address = currentAddress();
  openAddress("#source");
  need(!state.lines.size && !words.length, "an address without a line selects one");
  openAddress(address);
  need(currentAddress() === address, `${address} leads to ${currentAddress()}`);
  openAddress("#");
  press("s");
}

// Each line that has ops selects some at the first stage.
function testLines() {
  press("e");
  for (const element of all("#source .line.has")) {
    state.lines = new Set([element.dataset.line]);
    state.op = null;
    need(selectedIds(0).size > 0, "nothing comes from " + lineName(element.dataset.line));
  }
  state.lines = new Set();
}

function runTests() {
  testOpening();
  testSource();
  const line = lineWithKernel();
  need(line, "no source line has a kernel");
  testFind();
  testFindNothing();
  testWayToAssembly(line);
  testWayBack(line);
  testPanes();
  testSteps();
  testLoops();
  testLegend();
  testReach();
  testLists();
  testGroups();
  testSizes();
  testAddress(line);
  testLines();
}

function writeVerdict() {
  let verdict = "PASS";
  try {
    runTests();
  } catch (error) {
    verdict = "FAIL: " + error.message;
  }
  document.body.insertAdjacentHTML("beforeend", `<div id="verdict">selftest ${escapeHtml(verdict)}</div>`);
}

addressIsRead = true; // clicks write no address
writeVerdict();
