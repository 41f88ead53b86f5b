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
  out.push(`<div class="op ${change}" role="option" data-op="${op.record}">` +
    `${"    ".repeat(depth)}${opText(op)}</div>`);
  for (const inner of op.body)
    opRows(records[inner], depth + 1, change, out);
}

function goneLine(stage) {
  const gone = stages[stage - 1].ops.filter(op => !stages[stage].byId.has(op.id));
  if (!gone.length)
    return "";
  const kinds = count(gone, op => op.kind).map(([kind, n]) => `${n} ${kind}`).join(", ");
  return `<div class="gone" role="presentation">gone: ${kinds}</div>`;
}

function opsTools() {
  return '<label title="hide what is not selected ( f )"><input type="checkbox" id="only"> selected</label>' +
    '<label title="hide what the pass left alone ( c )"><input type="checkbox" id="changes"> changes</label>' +
    '<span id="count"></span>';
}

function shownOps() {
  const ids = state.only && state.lines.size ? selectedIds(state.stage) : null;
  const changes = state.changes && state.stage > 0;
  return stages[state.stage].ops.filter(op => (!ids || ids.has(op.id)) && (!words.length || isFound(op)) &&
    (!changes || changeOf(state.stage, op)));
}

function noOps() {
  return state.changes && state.stage && !changed[state.stage]
    ? `<div class="empty"><p>This pass changed nothing.</p></div>` : emptyText("op");
}

function drawOps() {
  const stage = stages[state.stage], out = [], shown = shownOps();
  if (state.stage)
    out.push(goneLine(state.stage));
  let scope = null;
  for (const op of shown) {
    if (op.scope !== scope)
      out.push(`<div class="scope" role="presentation">${escapeHtml(scope = op.scope) || "the model itself"}</div>`);
    opRows(op, 0, changeOf(state.stage, op), out);
  }
  byId("ops").innerHTML = (shown.length ? "" : noOps()) + out.join("");
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
    mark(element, "at", at);
    mark(element, "near", !at && touched.has(id));
    mark(element, "hit", words.length > 0 && opHolds(records[element.dataset.op]));
    if (at && !first)
      first = element;
  }
  if (state.from !== "ops")
    scrollTo(first);
}

// To the next or previous selected op of the pane.
function visitSelected(by) {
  showPane("ops");
  const found = [...all("#ops .op.at")], body = byId("ops");
  if (!found.length)
    return;
  const at = found.indexOf(body.querySelector(".cursor"));
  const next = found[at < 0 && by < 0 ? found.length - 1 : (at + by + found.length) % found.length];
  setCursor(body, next);
  body.focus();
  scrollTo(next);
}
