// The model's source with the library's blocks.

function sourceLine(text, line, hasOps) {
  const number = line.slice(line.indexOf(":") + 1);
  const code = escapeHtml(text).replace(/#.*$/, comment => `<span class="comment">${comment}</span>`);
  return `<div class="line${hasOps ? " has" : ""}" data-line="${line}"><i>${number}</i>${code}</div>`;
}

function drawSource() {
  const used = new Set();
  for (const op of stages[0].ops)
    for (const line of linesOf(op))
      used.add(line);
  // The model's own file first; sort is stable: the others stay in the order of reading.
  const own = file => file.path === DATA.title ? 0 : 1;
  const files = [...DATA.sources].sort((a, b) => own(a) - own(b));
  byId("source").innerHTML = files.map(file => {
    const n = fileNumber.get(file.path);
    const lines = file.text.replace(/\n$/, "").split("\n");
    return `<div class="file" title="${escapeHtml(file.path)}">${escapeHtml(baseName(file.path))}</div>` +
      lines.map((text, i) => sourceLine(text, `${n}:${i + 1}`, used.has(`${n}:${i + 1}`))).join("");
  }).join("");
}

function markSource() {
  let first = null;
  for (const element of all("#source .line")) {
    const near = state.lines.has(element.dataset.line);
    element.classList.toggle("near", near);
    element.classList.toggle("call", state.calls.has(element.dataset.line));
    if (near && !first)
      first = element;
  }
  if (!first || state.from === "source")
    return;
  const own = state.op && document.querySelector(`[data-line="${places[state.op.place][0]}"]`);
  scrollTo(own || first);
}
