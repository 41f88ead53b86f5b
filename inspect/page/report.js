// What fused and what nearly did, as dump --report tells it: once for all layers.

function groupTold(lines) {
  const groups = new Map();
  for (const line of lines) {
    const text = anyLayer(line.text), key = text + line.lines[0];
    if (!groups.has(key))
      groups.set(key, {text, line, times: 0, scopes: new Set()});
    const group = groups.get(key);
    group.times++;
    if (line.scope)
      group.scopes.add(anyLayer(line.scope));
  }
  return [...groups.values()];
}

function toldRow(group) {
  const scopes = [...group.scopes];
  const where = scopes.slice(0, 3).join(", ") + (scopes.length > 3 ? ", …" : "");
  const line = group.line.lines.length ? lineName(group.line.lines[0]) : "";
  return `<div class="told${group.line.miss ? " miss" : ""}" role="option" data-told="${group.line.index}">` +
    `<span class="id">${line}</span> ${escapeHtml(group.text)}` +
    (group.times > 1 ? ` <b>× ${group.times}</b>` : "") +
    (where ? `<div class="where">${escapeHtml(where)}</div>` : "") + "</div>";
}

function drawReport() {
  const lines = told.filter(line => holdsAnyCase(line.text + " " + line.scope));
  const part = (title, miss) => {
    const rows = groupTold(lines.filter(line => line.miss === miss));
    return `<div class="file" role="presentation">${title}</div>` +
      (rows.map(toldRow).join("") || '<div class="empty">none</div>');
  };
  byId("report").innerHTML = lines.length ? part("near misses", true) + part("fused", false)
    : told.length ? emptyText("line") : '<div class="empty"><p>No pass fused anything.</p></div>';
}

function markReport() {
  for (const element of all("#report .told"))
    mark(element, "near", told[element.dataset.told].lines.some(line => state.lines.has(line)));
  if (state.from !== "report")
    scrollTo(document.querySelector("#report .near"));
}
