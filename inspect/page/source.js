// The model's source: its own file first, then those it uses.

// Files are read prelude first, then the model and what it uses: so the prelude ends last.
const OWN = Math.max(0, DATA.sources.findIndex(file => file.path === DATA.title));
const files = [...DATA.sources.slice(OWN), ...DATA.sources.slice(0, OWN)].map((file, i) => ({
  path: file.path, name: baseName(file.path), number: fileNumber.get(file.path), own: i === 0,
  role: i === 0 ? "the model" : i < DATA.sources.length - OWN ? "used by it" : "used by every model",
  lines: file.text.replace(/\n$/, "").split("\n"),
}));
// As the model calls itself: a run's copy of it is in a file named model.tfg.
const modelName = (/^\s*model\s+(\w+)/m.exec(DATA.sources[OWN].text) || [])[1] || baseName(DATA.title);
const sourceLines = files.flatMap(file =>
  file.lines.map((text, i) => ({text, line: `${file.number}:${i + 1}`})));

function fileButtons() {
  return files.map(file => `<button data-file="${file.number}" class="${file.own ? "own" : ""}" ` +
    `title="${escapeHtml(file.path)}: ${file.role}">${escapeHtml(file.name.replace(/\.tfg$/, ""))}</button>`).join("");
}

function sourceRow(text, line, hasOps) {
  const number = line.slice(line.indexOf(":") + 1);
  const code = escapeHtml(text).replace(/#.*$/, comment => `<span class="comment">${comment}</span>`);
  return `<div class="line${hasOps ? " has" : ""}" role="option" data-line="${line}"><i>${number}</i>` +
    `<code>${code}</code></div>`;
}

function drawSource() {
  const used = new Set();
  for (const op of stages[0].ops)
    for (const line of linesOf(op))
      used.add(line);
  byId("source").innerHTML = files.map(file => `<div class="file" role="presentation" ` +
    `data-head="${file.number}" title="${escapeHtml(file.path)}">${escapeHtml(file.name)}` +
    `<span class="role${file.own ? " own" : ""}">${file.role}</span></div>` +
    file.lines.map((text, i) => {
      const line = `${file.number}:${i + 1}`;
      return sourceRow(text, line, used.has(line));
    }).join("")).join("");
}

function goToFile(number) {
  const head = document.querySelector(`[data-head="${number}"]`);
  byId("source").scrollTop += head.nextElementSibling.getBoundingClientRect().top -
    byId("source").getBoundingClientRect().top - head.offsetHeight;
}

function markSource() {
  const found = new Set(words.length ? sourceLines.filter(l => holdsAnyCase(l.text)).map(l => l.line) : []);
  const rows = [...all("#source .line")];
  for (const row of rows) {
    mark(row, "near", state.lines.has(row.dataset.line));
    mark(row, "call", state.calls.has(row.dataset.line));
    mark(row, "hit", found.has(row.dataset.line));
  }
  const marked = new Set([...state.lines, ...state.calls].map(line => line.split(":")[0]));
  for (const button of all("[data-file]"))
    mark(button, "marked", marked.has(button.dataset.file));
  if (state.from === "source" || state.from === "stage")
    return;
  if (state.from === "find")
    return scrollTo(rows.find(row => row.classList.contains("hit")));
  const own = state.op && document.querySelector(`[data-line="${places[state.op.place][0]}"]`);
  scrollTo(own || rows.find(row => row.classList.contains("near")));
}
