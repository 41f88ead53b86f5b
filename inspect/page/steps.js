// The steps of the program, and LLVM IR and assembly of their kernels.

function stepRow(step) {
  return `<div class="step" data-step="${step.index}" title="${escapeHtml(step.name)}">` +
    `<b>${step.index}</b><span class="name">${escapeHtml(step.name.replace(/\(.*/, "")) || "—"}</span>` +
    `<span class="shape">${escapeHtml(step.shape)}</span>` +
    `<span class="n">${step.flops ? short(step.flops) : ""}</span>` +
    `<span class="n">${short(step.bytes)}</span></div>`;
}

const STEP_HEAD = '<div class="step head"><b>step</b><span>op</span><span>shape</span>' +
  '<span class="n">FLOP</span><span class="n">bytes</span></div>';

function drawSteps() {
  const chosen = state.only && state.lines.size ? selectedSteps() : steps;
  byId("steps").innerHTML = STEP_HEAD + chosen.map(stepRow).join("");
}

function markSteps(mine) {
  const chosen = new Set(mine.map(step => step.index));
  let first = null;
  for (const element of all("#steps [data-step]")) {
    const index = +element.dataset.step;
    element.classList.toggle("at", index === state.step);
    element.classList.toggle("near", index !== state.step && chosen.has(index));
    if (index === state.step || !first && chosen.has(index))
      first = element;
  }
  if (state.from !== "steps")
    scrollTo(first);
}

// The kernels to choose from: those of the selected steps, all where none is.
function drawKernelList(mine) {
  const used = count((mine.length ? mine : steps).filter(s => s.kernel >= 0), s => s.kernel);
  const nothing = mine.length ? "no kernel of its own" : "kernel";
  const none = state.kernel < 0 ? `<option value="-1">${nothing}</option>` : "";
  byId("kernel").innerHTML = none + used.map(([kernel, n]) =>
    `<option value="${kernel}"${kernel === state.kernel ? " selected" : ""}>` +
    `${kernels[kernel].name}, ${plural(n, "step")}</option>`).join("");
}

function colour(text, comments) {
  return escapeHtml(text).replace(comments, comment => `<span class="comment">${comment}</span>`);
}

function drawKernel() {
  const kernel = kernels[state.kernel], step = steps[state.step];
  const none = !step ? "Select a line, an op or a step." :
    `Step ${step.index} (${step.name}) has no kernel of its own: ` +
    (step.kind === "product" ? `a product of ${step.shape} by the library.` : `it is a ${step.kind}.`);
  byId("llvm").innerHTML = kernel ? colour(kernel.llvm, /;.*$/gm) : escapeHtml(none);
  byId("asm").innerHTML = kernel ? colour(kernel.assembly.trimStart(), /#.*$/gm) : escapeHtml(none);
}
