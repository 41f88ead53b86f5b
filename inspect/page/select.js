// Selecting, and marking the selection in every pane.

const CLEAR = '<button data-nothing="" title="select nothing ( Esc )" aria-label="select nothing">✕</button>';

function describeSelection(mine) {
  const ids = selectedIds(state.stage), op = state.op;
  const what = op ? `%${op.id} ${op.kind}${op.scope ? " in " + op.scope : ""}`
                  : [...state.lines].slice(0, 3).map(lineName).join(", ") + (state.lines.size > 3 ? ", …" : "");
  const used = new Set(mine.filter(step => step.kernel >= 0).map(step => step.kernel)).size;
  const flops = mine.reduce((sum, step) => sum + step.flops, 0);
  const bytes = mine.reduce((sum, step) => sum + step.bytes, 0);
  const way = (pane, text) => `<button class="link" data-tab="${pane}">${text}</button>`;
  const from = op ? " from " + places[op.place].map(line =>
    `<button class="link" data-line="${line}">${escapeHtml(lineName(line))}</button>`).join(" ‹ ") : "";
  if (!op && !stages.some((_, i) => selectedIds(i).size))
    return `<span><b>${escapeHtml(what)}</b> no op of this function comes from here; blue line numbers have some</span>${CLEAR}`;
  return `<span><b>${escapeHtml(what)}</b> ${way("ops", plural(ids.size, "op"))} after ` +
    `${escapeHtml(stages[state.stage].name)}, ${way("steps", plural(mine.length, "step"))}, ` +
    `${way("asm", plural(used, "kernel"))}${mine.length ? `, ${short(flops)}FLOP, ${short(bytes)}B` : ""}${from}</span>${CLEAR}`;
}

function drawSelection(mine) {
  byId("selection").classList.toggle("on", state.lines.size > 0);
  byId("selection").innerHTML = state.lines.size ? describeSelection(mine) :
    "<span>Select a line of the model, an op, a step or a bar of the memory: every pane marks what belongs to it.</span>";
}

function markAll() {
  const mine = selectedSteps();
  drawSelection(mine);
  for (const pane of PANES.filter(isShown)) {
    if (pane.stale)
      pane.draw();
    pane.stale = false;
    pane.mark(mine);
    if (pane.rows)
      restoreCursor(byId(pane.id));
  }
  highlightFound();
  writeAddress();
}

// `step`: the number of the step to show, or undefined: one of the kernel that is shown, or the first with one.
function select(lines, op, from, step) {
  Object.assign(state, {lines: new Set(lines), op, from, byStep: step !== undefined});
  state.calls = new Set(op ? [...linesOf(op)].filter(line => !state.lines.has(line)) : []);
  const mine = selectedSteps();
  const chosen = step !== undefined ? steps[step] :
    mine.find(s => s.kernel >= 0 && s.kernel === state.kernel) || mine.find(s => s.kernel >= 0) || mine[0];
  state.step = chosen ? chosen.index : -1;
  state.kernel = chosen ? chosen.kernel : -1;
  if (state.only)
    redraw("ops", "steps");
  else
    markAll();
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

// ---- stages ----

const changed = stages.map((stage, i) => i === 0 || stage.ops.length !== stages[i - 1].ops.length ||
  stage.ops.some((op, k) => op !== stages[i - 1].ops[k]));

function drawStages() {
  byId("stages").innerHTML = stages.map((stage, i) =>
    `<button role="radio" data-stage="${i}" class="${changed[i] ? "" : "same"}" title="${escapeHtml(stage.help)}` +
    `${changed[i] ? "" : " (changed nothing here)"}">${escapeHtml(stage.name)}<span class="hits"></span></button>`).join("");
}

function markStages() {
  for (const button of all("#stages button")) {
    const i = +button.dataset.stage;
    choose(button, i === state.stage, "aria-checked");
    button.lastChild.textContent = stageHits[i] || "";
    button.classList.toggle("none", words.length > 0 && !stageHits[i]);
  }
}

function setStage(index) {
  state.stage = Math.max(0, Math.min(LAST, index));
  state.from = "stage";
  markStages();
  drawFound();
  const button = document.querySelector(`#stages [data-stage="${state.stage}"]`);
  byId("stages").scrollLeft = button.offsetLeft - (byId("stages").clientWidth - button.offsetWidth) / 2;
  redraw("ops");
}

// `only` or `changes`: what the list of ops leaves out.
function setFilter(name, on) {
  state[name] = byId(name).checked = on;
  redraw("ops", "steps");
}
