// The steps of the program.

const stepText = step => `${step.name} ${step.shape} ${step.kernel >= 0 ? kernels[step.kernel].name : step.kind}`;

function stepRow(step) {
  return `<div class="step" role="option" data-step="${step.index}" title="${escapeHtml(step.name)}">` +
    `<b>${step.index}</b><span class="name">${escapeHtml(step.name.replace(/\(.*/, "")) || "—"}</span>` +
    `<span class="shape">${escapeHtml(step.shape)}</span>` +
    `<span class="n">${step.flops ? short(step.flops) : ""}</span>` +
    `<span class="n">${short(step.bytes)}</span></div>`;
}

const STEP_HEAD = '<div class="step head" role="presentation"><b>step</b><span>op</span><span>shape</span>' +
  '<span class="n">FLOP</span><span class="n">bytes</span></div>';

function drawSteps() {
  const mine = state.only && state.lines.size ? selectedSteps() : steps;
  const shown = mine.filter(step => holdsAnyCase(stepText(step)));
  byId("steps").innerHTML = STEP_HEAD + (shown.map(stepRow).join("") || emptyText("step"));
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
