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
  return `<div class="told${group.line.miss ? " miss" : ""}" data-told="${group.line.index}">` +
    `<span class="id">${line}</span> ${escapeHtml(group.text)}` +
    (group.times > 1 ? ` <b>× ${group.times}</b>` : "") +
    (where ? `<div class="where">${escapeHtml(where)}</div>` : "") + "</div>";
}

function drawReport() {
  const rows = miss => groupTold(told.filter(line => line.miss === miss)).map(toldRow).join("");
  byId("report").innerHTML =
    `<div class="file">near misses</div>${rows(true) || "none"}<div class="file">fused</div>${rows(false)}`;
}

function markReport() {
  for (const element of all("#report .told")) {
    const lines = told[element.dataset.told].lines;
    element.classList.toggle("near", lines.some(line => state.lines.has(line)));
  }
}
