// Loop IR, LLVM IR and assembly of the kernels.

// The kernels to choose from: those of the selected steps, all where none is.
function drawKernelList(select, mine) {
  const used = count((mine.length ? mine : steps).filter(s => s.kernel >= 0), s => s.kernel);
  const none = state.kernel < 0 ? `<option value="-1">${mine.length ? "no kernel of its own" : "kernel …"}</option>` : "";
  select.innerHTML = none + used.map(([kernel, n]) =>
    `<option value="${kernel}"${kernel === state.kernel ? " selected" : ""}>` +
    `${kernels[kernel].name}, ${plural(n, "step")}</option>`).join("");
}

function colour(text, comments) {
  return escapeHtml(text).replace(comments, comment => `<span class="comment">${comment}</span>`);
}

const loopsParts = kernel => kernel.loops.replace(/\n$/, "").split("\n").map((text, line) =>
  `<div class="loop" role="option" data-loop="${line}">${escapeHtml(text)}</div>`).join("");
const llvmParts = kernel => colour(kernel.llvm, /;.*$/gm);

// The instructions first: what the assembler needs before them, constants and alignment,
// opens with a click.
function assemblyParts(kernel) {
  const text = kernel.assembly.replace(/^\n+/, ""), at = ("\n" + text).indexOf(`\n${kernel.name}:`);
  const before = text.slice(0, Math.max(0, at)), lines = before.split("\n").length - 1;
  const fold = before ? `<details><summary>${plural(lines, "line")} of constants and directives</summary>` +
    `${colour(before, /#.*$/gm)}</details>` : "";
  return fold + colour(text.slice(before.length), /#.*$/gm);
}

function noCode() {
  const step = steps[state.step];
  return !step ? "Select a line, an op or a step, or choose a kernel above." :
    `Step ${step.index} (${step.name}) has no kernel of its own: ` +
    (step.kind === "product" ? `a product of ${step.shape} by the library.` : `it is a ${step.kind}.`);
}

const codeShown = {}; // of each pane: the kernel whose text it holds
function markCode(id, mine, parts) {
  const kernel = kernels[state.kernel], body = byId(id);
  drawKernelList(paneOf(id).tools.querySelector("select"), mine);
  const text = kernel ? state.kernel : noCode();
  if (codeShown[id] === text)
    return;
  codeShown[id] = text;
  body.innerHTML = kernel ? parts(kernel) : `<div class="empty"><p>${escapeHtml(noCode())}</p></div>`;
  body.scrollTop = body.scrollLeft = 0;
}

// ---- loop IR, line by line ----

// Of a line's ops. A selected region is the whole kernel: no line stands out.
function markOfOps(ops) {
  const touched = op => op.body.length ? op.body.every(inner => isTouched(records[inner])) : isTouched(op);
  return state.op && state.op.body.length ? "" :
    state.op && ops.some(op => op.id === state.op.id) ? "at" : ops.some(touched) ? "near" : "";
}

function markLoops(mine) {
  const kernel = kernels[state.kernel];
  markCode("loops", mine, loopsParts);
  if (!kernel)
    return;
  const marks = kernel.ops.map(markOfOps);
  let first = null;
  for (const row of all("#loops .loop")) {
    const marked = marks[kernel.origins[row.dataset.loop]];
    mark(row, "at", marked === "at");
    mark(row, "near", marked === "near");
    first = first || marked && row;
  }
  if (state.from !== "loops")
    scrollTo(first);
}

function selectLoop(line) {
  const kernel = kernels[state.kernel], ops = kernel.ops[kernel.origins[line]];
  select(ops.flatMap(op => [...ownLines(op)]), ops.length === 1 ? ops[0] : null, "loops");
}
