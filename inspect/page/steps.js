// The steps of the program.

const stepText = step => `${step.name} ${step.shape} ${step.kernel >= 0 ? kernels[step.kernel].name : step.kind}`;

// A step's name, "encoder.layer.0.self.value dot, row(add)", in two: the block that heads its row, down to the last
// number, and what the row says: "encoder.layer.0" and "self.value dot, row".
function splitName({name, op}) {
  const scope = compiled.get(op)?.scope ?? "", parts = scope.split(".");
  const split = parts.findLastIndex(part => /^\d+$/.test(part)) + 1 || 1;
  const does = name.slice(scope.length).replace(/\(.*/, "");
  return [parts.slice(0, split).join("."), (parts.slice(split).join(".") + does).trim()];
}

// Its block as a heading, where that is another than the one above it.
function stepHeads() {
  const forward = forwardIds(stages[LAST], producersOf(stages[LAST]));
  let last = null;
  return step => {
    const [block] = splitName(step), head = backMark(stages[LAST].byId.get(step.op), forward) + (block || "the model itself");
    return head === last ? "" : `<div class="scope" role="presentation">${escapeHtml(last = head)}</div>`;
  };
}

function stepRow(step) {
  const [, name] = splitName(step);
  return `<div class="step" role="option" data-step="${step.index}" title="${escapeHtml(step.name)}">` +
    `<b>${step.index}</b><span class="name">${escapeHtml(name).replaceAll(".", ".<wbr>") || "—"}</span>` +
    `<span class="shape">${escapeHtml(step.shape)}</span>` +
    `<span class="n">${step.flops ? short(step.flops) : ""}</span>` +
    `<span class="n">${short(step.bytes)}</span></div>`;
}

const STEP_HEAD = '<div class="step head" role="presentation"><b>step</b><span>op</span><span>shape</span>' +
  '<span class="n">FLOP</span><span class="n">bytes</span></div>';

function drawSteps() {
  const mine = state.only && state.lines.size ? selectedSteps() : steps;
  const shown = mine.filter(step => holdsAnyCase(stepText(step)));
  const head = stepHeads();
  byId("steps").innerHTML = STEP_HEAD + (shown.map(step => head(step) + stepRow(step)).join("") || emptyText("step"));
}

function markSteps(mine) {
  const chosen = new Set(mine.map(step => step.index));
  let first = null;
  for (const element of all("#steps [data-step]")) {
    const index = +element.dataset.step;
    mark(element, "at", index === state.step);
    mark(element, "near", index !== state.step && chosen.has(index));
    if (index === state.step || !first && chosen.has(index))
      first = element;
  }
  if (state.from !== "steps")
    scrollTo(first);
}
