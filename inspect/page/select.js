// Selecting, and marking the selection in every pane.

function describeSelection(mine) {
  if (!state.lines.size)
    return ["Select a line of the model, an op, a step, a buffer …", ""];
  const ids = selectedIds(state.stage), op = state.op;
  const what = op ? `%${op.id} ${op.kind}${op.scope ? " in " + op.scope : ""}`
                  : [...state.lines].slice(0, 3).map(lineName).join(", ");
  const used = new Set(mine.filter(step => step.kernel >= 0).map(step => step.kernel)).size;
  const flops = mine.reduce((sum, step) => sum + step.flops, 0);
  const bytes = mine.reduce((sum, step) => sum + step.bytes, 0);
  const sums = mine.length ? `, ${short(flops)}FLOP, ${short(bytes)}B` : "";
  const from = op ? "from " + places[op.place].map(lineName).join(" ‹ ") : "";
  const ops = `${plural(ids.size, "op")} after ${stages[state.stage].name}`;
  return [what, `${ops}, ${plural(mine.length, "step")}, ${plural(used, "kernel")}${sums}   ${from}`];
}

function mark() {
  const mine = state.lines.size ? selectedSteps() : [];
  const [what, where] = describeSelection(mine);
  byId("what").textContent = what;
  byId("where").textContent = where;
  if (state.only) {
    drawOps();
    drawSteps();
  }
  visited = -1;
  markSource();
  markOps();
  markReport();
  markSteps(mine);
  markSlab(mine);
  drawKernelList(mine);
  drawKernel();
  if (state.middle === "graph")
    drawGraph();
}

// `step`: the number of the step to show, or undefined: the first with a kernel.
function select(lines, op, from, step) {
  Object.assign(state, {lines: new Set(lines), op, from});
  state.calls = new Set(op ? [...linesOf(op)].filter(line => !state.lines.has(line)) : []);
  const mine = state.lines.size ? selectedSteps() : [];
  const chosen = step !== undefined ? steps[step] : mine.find(s => s.kernel >= 0) || mine[0];
  state.step = chosen ? chosen.index : -1;
  state.kernel = chosen ? chosen.kernel : -1;
  mark();
}

const selectOp = (op, from) => select(ownLines(op), op, from);

function selectStep(index, from) {
  const op = stages[LAST].byId.get(steps[index].op);
  select(op ? ownLines(op) : [], op || null, from, index);
}

function selectNode(node) {
  if (node.op)
    selectOp(node.op, "graph");
  else
    select([...node.ops].map(op => places[op.place][0]).filter(Boolean), null, "graph");
}

function setStage(index) {
  state.stage = Math.max(0, Math.min(LAST, index));
  all("#stages button").forEach((button, i) => button.classList.toggle("on", i === state.stage));
  state.from = "stage";
  drawOps();
  mark();
}

function setTab(group, tab) {
  state[group] = tab;
  for (const button of all(`[data-group=${group}] button`)) {
    button.classList.toggle("on", button.dataset.tab === tab);
    byId(button.dataset.tab).classList.toggle("on", button.dataset.tab === tab);
  }
  state.from = "tab";
  mark();
}

function setOnly(only) {
  state.only = byId("only").checked = only;
  drawOps();
  drawSteps();
  mark();
}
