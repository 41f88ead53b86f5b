// The ops of a stage, under the scopes they belong to; what its pass changed is marked.

function changeOf(stage, op) {
  if (!stage)
    return "";
  const before = stages[stage - 1].byId.get(op.id);
  return !before ? "new" : before.record !== op.record ? "changed" : "";
}

function opText(op) {
  const results = Array.from({length: op.results}, (_, i) => "%" + (op.id + i)).join(", ");
  return (results ? `<span class="id">${results} =</span> ` : "") +
    `<span class="kind">${op.kind}</span> ${op.args.map(a => "%" + a).join(", ")}` +
    `<span class="attrs">${escapeHtml(op.attrs)}</span>` +
    (op.type ? ` : <span class="type">${escapeHtml(op.type)}</span>` : "");
}

function opRows(op, depth, change, out) {
  out.push(`<div class="op ${change}" data-op="${op.record}">${"    ".repeat(depth)}${opText(op)}</div>`);
  for (const inner of op.body)
    opRows(records[inner], depth + 1, change, out);
}

function goneLine(stage) {
  const gone = stages[stage - 1].ops.filter(op => !stages[stage].byId.has(op.id));
  if (!gone.length)
    return "";
  const kinds = count(gone, op => op.kind).map(([kind, n]) => `${n} ${kind}`).join(", ");
  return `<div class="gone">gone: ${kinds}</div>`;
}

function shownOps() {
  const find = byId("find").value.toLowerCase();
  const ids = state.only && state.lines.size ? selectedIds(state.stage) : null;
  const text = op => `%${op.id} ${op.kind} ${op.scope} ${op.type} ${op.attrs}`.toLowerCase();
  return stages[state.stage].ops.filter(op => (!ids || ids.has(op.id)) && (!find || text(op).includes(find)));
}

function drawOps() {
  const stage = stages[state.stage], out = [], shown = shownOps();
  if (state.stage)
    out.push(goneLine(state.stage));
  let scope = null;
  for (const op of shown) {
    if (op.scope !== scope)
      out.push(`<div class="scope">${escapeHtml(scope = op.scope) || "—"}</div>`);
    opRows(op, 0, changeOf(state.stage, op), out);
  }
  byId("ops").innerHTML = out.join("");
  const changes = count(stage.ops, op => changeOf(state.stage, op)).filter(([change]) => change);
  byId("count").textContent =
    [shown.length < stage.ops.length ? `${shown.length} of ${stage.ops.length} ops` : `${shown.length} ops`,
      ...changes.map(([change, n]) => `${n} ${change}`)].join(", ");
  byId("count").title = stage.help;
}

function markOps() {
  const ids = selectedIds(state.stage), touched = new Set();
  for (const op of stages[state.stage].ops)
    if (isTouched(op))
      touched.add(op.id);
  let first = null;
  for (const element of all("#ops .op")) {
    const id = records[element.dataset.op].id;
    const at = ids.has(id) || state.op !== null && state.op.id === id;
    element.classList.toggle("at", at);
    element.classList.toggle("near", !at && touched.has(id));
    if (at && !first)
      first = element;
  }
  if (state.from !== "ops")
    scrollTo(first);
}

// To the next or previous selected op of the pane.
let visited = -1;
function visitSelected(by) {
  const found = [...all("#ops .op.at")];
  if (!found.length)
    return;
  visited = (visited + by + found.length) % found.length;
  all("#ops .op.visited").forEach(e => e.classList.remove("visited"));
  found[visited].classList.add("visited");
  scrollTo(found[visited]);
}
