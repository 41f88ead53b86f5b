// The page of one compilation. Everything hangs on a selection: a set of source
// lines and, where an op was clicked, that op; every pane marks what belongs to it.
"use strict";
const D = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const esc = s => String(s).replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}[c]));
const unruns = a => { const r = []; for (let i = 0; i < a.length; i += 2) for (let k = 0; k < a[i + 1]; k++) r.push(a[i] + k); return r; };

// ---- the data as objects ----
const records = D.records.map((r, i) => ({
  record: i, id: r[0], kind: D.words[r[1]], type: D.words[r[2]], attrs: D.words[r[3]], place: r[4],
  scope: D.words[r[5]], args: r[6], results: r[7], body: r[8] ? unruns(r[8]) : null}));
const lineSets = D.places.map(p => { const s = []; for (let i = 0; i < p.length; i += 2) s.push(p[i] + ":" + p[i + 1]); return s; });
const stages = D.stages.map(s => {
  const ops = unruns(s.ops).map(i => records[i]);
  return {name: s.name, help: s.help, ops, byId: new Map(ops.map(o => [o.id, o]))};
});
const fileNumber = new Map(D.files.map((f, i) => [f, i]));
const last = stages.length - 1;
const steps = D.steps.map((s, i) => ({index: i, kind: s[0], name: s[1], op: s[2], kernel: s[3], flops: s[4], bytes: s[5], shape: s[6]}));
const linesOf = op => {
  if (!op.lines) {
    op.lines = new Set(lineSets[op.place]);
    for (const b of op.body || []) for (const l of linesOf(records[b])) op.lines.add(l);
  }
  return op.lines;
};
const number = n => n >= 1e9 ? (n / 1e9).toPrecision(3) + " G" : n >= 1e6 ? (n / 1e6).toPrecision(3) + " M" : n >= 1e3 ? (n / 1e3).toPrecision(3) + " k" : String(n);

// ---- state ----
const state = {stage: last, lines: new Set(), op: null, step: -1, kernel: -1, root: "", middle: "ops", right: "steps"};
const touches = op => { for (const l of linesOf(op)) if (state.lines.has(l)) return true; return false; };
/* The ops of a stage that the selection means: the op itself or, at stages where it
 * is not, what came from the same lines in the same scope. */
function meant(stage) {
  const s = stages[stage];
  if (state.op && s.byId.has(state.op.id)) return new Set([state.op.id]);
  let ops = s.ops.filter(touches);
  if (state.op) { const same = ops.filter(o => o.scope === state.op.scope); if (same.length) ops = same; }
  return new Set(ops.map(o => o.id));
}
const stepsMeant = () => { const ids = meant(last); return steps.filter(s => ids.has(s.op)); };

// ---- source ----
function drawSource() {
  const used = new Set();
  for (const o of stages[0].ops) for (const l of linesOf(o)) used.add(l);
  // The model's own file first; sort is stable: the others stay in the order of reading.
  const own = f => f.path === D.title ? 0 : 1, files = [...D.sources].sort((a, b) => own(a) - own(b));
  $("source").innerHTML = files.map(f => {
    const n = fileNumber.get(f.path);
    return `<div class="file">${esc(f.path)}</div>` + f.text.replace(/\n$/, "").split("\n").map((t, i) => {
      const key = n + ":" + (i + 1);
      return `<div class="line${used.has(key) ? " has" : ""}" data-line="${key}"><i>${i + 1}</i>${esc(t)}</div>`;
    }).join("");
  }).join("");
}

// ---- the ops of a stage ----
function opText(o) {
  const names = Array.from({length: o.results}, (_, i) => "%" + (o.id + i)).join(", ");
  return `${names ? names + " = " : ""}<span class="kind">${o.kind}</span> ${o.args.map(a => "%" + a).join(", ")}${esc(o.attrs)}` +
    (o.type ? ` : <span class="type">${esc(o.type)}</span>` : "") + (o.scope ? ` <span class="scope">@ ${esc(o.scope)}</span>` : "");
}
function change(stage, o) {
  if (!stage) return "";
  const before = stages[stage - 1].byId.get(o.id);
  return !before ? " new" : before.record !== o.record ? " changed" : "";
}
function drawOps() {
  const s = stages[state.stage], find = $("find").value.toLowerCase(), out = [];
  const row = (o, depth, mark) => {
    out.push(`<div class="op${mark}" data-op="${o.record}">${"  ".repeat(depth)}${opText(o)}</div>`);
    for (const b of o.body || []) row(records[b], depth + 1, mark);
  };
  const shown = find ? s.ops.filter(o => (o.kind + " " + o.scope + " " + o.type + " " + o.attrs).toLowerCase().includes(find)) : s.ops;
  if (state.stage) {
    const gone = stages[state.stage - 1].ops.filter(o => !s.byId.has(o.id)), counts = new Map();
    for (const o of gone) counts.set(o.kind, (counts.get(o.kind) || 0) + 1);
    if (gone.length) out.push(`<div class="gone">− ${gone.length} gone: ${[...counts].sort((a, b) => b[1] - a[1]).map(([k, n]) => n + " " + k).join(", ")}</div>`);
  }
  for (const o of shown) row(o, 0, change(state.stage, o));
  $("ops").innerHTML = out.join("");
  const fresh = s.ops.filter(o => change(state.stage, o) === " new").length;
  const changed = s.ops.filter(o => change(state.stage, o) === " changed").length;
  $("count").textContent = `${s.name}: ${s.ops.length} ops` + (state.stage ? `, ${fresh} new, ${changed} changed` : "");
  $("count").title = s.help;
}

// ---- the graph: ops of one scope, deeper scopes as boxes, in layers ----
function graphOf() {
  const s = stages[state.stage], root = state.root, byValue = new Map(), nodes = new Map(), edges = new Map();
  for (const o of s.ops) for (let i = 0; i < Math.max(1, o.results); i++) byValue.set(o.id + i, o);
  const loss = s.ops.find(o => o.kind === "output" && o.attrs.includes('"loss"')), forward = new Set();
  const walk = loss ? [loss] : s.ops.filter(o => o.kind === "output");
  while (walk.length) { const o = walk.pop(); if (!forward.has(o.id)) { forward.add(o.id); for (const a of o.args) if (byValue.has(a)) walk.push(byValue.get(a)); } }
  const inside = o => !root || o.scope === root || o.scope.startsWith(root + ".");
  const keyOf = o => {
    const back = forward.has(o.id) ? "" : "∂ ";
    if (!inside(o)) return {key: "out:" + back + o.scope, label: back + (o.scope || o.kind), cls: "outside"};
    const rest = root ? o.scope.slice(root.length + 1) : o.scope, head = rest.split(".").slice(0, /^\d/.test(rest.split(".")[1] || "") ? 2 : 1).join(".");
    if (head) return {key: "in:" + back + head, label: back + head, cls: "group", scope: (root ? root + "." : "") + head};
    if (o.kind === "param" || o.kind === "const" || o.kind === "assign" || !root && back) return {key: "kind:" + back + o.kind, label: back + o.kind + (back && !root ? " (update)" : ""), cls: ""};
    const name = /name = "([^"]*)"/.exec(o.attrs);
    return {key: "op:" + o.id, label: o.kind + (name ? " " + name[1] : ""), cls: o.kind === "dot" ? "product" : "", op: o};
  };
  for (const o of s.ops) if (inside(o)) { const k = keyOf(o); if (!nodes.has(k.key)) nodes.set(k.key, {...k, order: nodes.size, ops: []}); nodes.get(k.key).ops.push(o); o.node = k.key; }
  for (const o of s.ops) for (const a of o.args) {
    const from = byValue.get(a);
    if (!from || !inside(o) && !inside(from) || from.kind === "const" || from.kind === "param" && !inside(from)) continue;
    const pair = [from, o].map(x => { const k = keyOf(x); if (!nodes.has(k.key)) nodes.set(k.key, {...k, order: nodes.size, ops: []}); if (!inside(x)) nodes.get(k.key).ops.push(x); return k.key; });
    if (pair[0] !== pair[1]) edges.set(pair.join("→"), {from: pair[0], to: pair[1], type: from.type});
  }
  return {nodes: [...nodes.values()], byKey: nodes, edges: [...edges.values()]};
}
function layers(g) {
  // Edges against the order of a depth-first walk are drawn back, so that layers exist.
  const next = new Map(g.nodes.map(n => [n.key, []])), mark = new Map();
  for (const e of g.edges) next.get(e.from).push(e);
  const visit = k => { mark.set(k, 1); for (const e of next.get(k)) { if (mark.get(e.to) === 1) e.back = true; else if (!mark.has(e.to)) visit(e.to); } mark.set(k, 2); };
  for (const n of g.nodes) if (!mark.has(n.key)) visit(n.key);
  for (const n of g.nodes) n.layer = 0;
  for (let round = 0, moved = true; moved && round <= g.nodes.length; round++) {
    moved = false;
    for (const e of g.edges) { const a = g.byKey.get(e.from), b = g.byKey.get(e.to); if (!e.back && b.layer <= a.layer) { b.layer = a.layer + 1; moved = true; } }
  }
  const rows = [];
  for (const n of g.nodes) (rows[n.layer] = rows[n.layer] || []).push(n);
  for (const r of rows) r.forEach((n, i) => n.at = i);
  for (let sweep = 0; sweep < 6; sweep++) for (const r of rows) {
    for (const n of r) { const near = g.edges.filter(e => e.from === n.key || e.to === n.key).map(e => g.byKey.get(e.from === n.key ? e.to : e.from)); n.want = near.length ? near.reduce((x, m) => x + m.at / Math.max(1, rows[m.layer].length - 1 || 1), 0) / near.length : n.at; }
    r.sort((a, b) => a.want - b.want).forEach((n, i) => n.at = i);
  }
  return rows;
}
function drawGraph() {
  const g = graphOf(), rows = layers(g), H = 24, ids = meant(state.stage);
  const wide = n => Math.min(220, 18 + 6.4 * (n.label.length + (n.cls === "group" ? String(n.ops.length).length + 3 : 0)));
  let width = 300;
  for (const r of rows) { let x = 0; for (const n of r) { n.w = wide(n); n.x = x; x += n.w + 18; } r.width = x; width = Math.max(width, x); }
  rows.forEach((r, y) => r.forEach(n => { n.x += (width - r.width) / 2 + 10; n.y = 10 + y * 54; }));
  const height = rows.length * 54 + 10, svg = [];
  for (const e of g.edges) {
    const a = g.byKey.get(e.from), b = g.byKey.get(e.to), x = a.x + a.w / 2, X = b.x + b.w / 2, y = a.y + H, Y = b.y;
    svg.push(`<path class="${e.back ? "back" : ""}" d="M${x} ${y}C${x} ${y + 24} ${X} ${Y - 24} ${X} ${Y}"><title>${esc(e.type)}</title></path>`);
  }
  g.nodes.forEach((n, i) => {
    const label = n.label + (n.cls === "group" ? ` (${n.ops.length})` : "");
    const kind = n.ops.some(o => ids.has(o.id)) ? " sel" : "";
    svg.push(`<g class="node ${n.cls}${kind}" data-node="${i}"><title>${esc(n.op ? n.op.kind + " : " + n.op.type + " @ " + n.op.scope : n.label + ": " + n.ops.length + " ops" + (n.scope ? "; double click opens it" : ""))}</title><rect x="${n.x}" y="${n.y}" width="${n.w}" height="${H}"/><text x="${n.x + n.w / 2}" y="${n.y + 16}" text-anchor="middle">${esc(label.length > 33 ? label.slice(0, 32) + "…" : label)}</text></g>`);
  });
  const parts = state.root ? state.root.split(".") : [];
  $("graph").innerHTML = `<div class="crumbs"><a data-root="">${esc(D.function)}</a>` + parts.map((p, i) => ` › <a data-root="${esc(parts.slice(0, i + 1).join("."))}">${esc(p)}</a>`).join("") + ` <small>click selects, double click opens a box</small></div><svg width="${width + 20}" height="${height}">${svg.join("")}</svg>`;
  $("graph").nodes = g.nodes;
}

// ---- report, steps, kernels, slab ----
function drawReport() {
  const seen = new Map();
  D.report.forEach(([text, place, scope], i) => { const k = text + place; if (seen.has(k)) seen.get(k).n++; else seen.set(k, {text, scope, i, n: 1}); });
  const all = [...seen.values()], miss = r => r.text.startsWith("not fused"), row = r => `<div class="told${miss(r) ? " miss" : ""}" data-told="${r.i}">${esc(r.text)}${r.scope ? "  @ " + esc(r.scope) : ""}${r.n > 1 ? "  × " + r.n : ""}</div>`;
  $("report").innerHTML = `<div class="file">near misses</div>` + all.filter(miss).map(row).join("") + `<div class="file">fused</div>` + all.filter(r => !miss(r)).map(row).join("");
}
function drawSteps() {
  const kinds = ["", "product", "copy", "zeros"];
  $("steps").innerHTML = steps.map(s => `<div class="step" data-step="${s.index}"><b>${String(s.index).padStart(4)}</b> ${esc(s.kernel >= 0 ? D.kernels[s.kernel][0] : kinds[s.kind])}  ${esc(s.shape)}  ${number(s.flops)}FLOP ${number(s.bytes)}B  ${esc(s.name)}</div>`).join("");
}
function drawKernel() {
  const k = state.kernel, s = steps[state.step];
  $("kernel").textContent = k >= 0 ? `${D.kernels[k][0]}, ${steps.filter(x => x.kernel === k).length} steps` : s ? "no kernel of its own: " + ["", "a product, by the library", "a copy", "zeros"][s.kind] : "";
  $("llvm").textContent = k >= 0 ? D.kernels[k][1] : "";
  $("asm").textContent = k >= 0 ? D.kernels[k][2] : "";
}
function drawSlab() {
  const n = Math.max(1, steps.length), S = D.slab, MB = b => (b / 1e6).toPrecision(3) + " MB";
  $("slabtext").textContent = `slab ${MB(S.bytes)} over ${n} steps at ${D.dims.map(d => d.join(" = ")).join(", ")}; peak ${MB(S.peak)} at step ${S.step} (${(steps[S.step] || {name: "the end"}).name})`;
  $("slab").innerHTML = `<svg viewBox="0 0 ${n} 1000" preserveAspectRatio="none">` + S.buffers.map(([name, first, end, writer, offset, bytes, b], i) =>
    `<rect class="b" data-buffer="${i}" x="${first}" width="${Math.max(1, end - first + 1)}" y="${1000 - 1000 * (offset + bytes) / S.bytes}" height="${1000 * bytes / S.bytes}" fill="hsl(${b * 67 % 360} 45% 68%)"><title>#${b} ${esc(name)}: ${MB(bytes)} at ${offset}, steps ${first} to ${end}</title></rect>`).join("") +
    `<line x1="${S.step + .5}" x2="${S.step + .5}" y1="0" y2="1000" stroke="#c00" vector-effect="non-scaling-stroke"/></svg>`;
}

// ---- marking the selection ----
function show(element) { if (element) element.scrollIntoView({block: "center"}); }
function mark() {
  for (const e of document.querySelectorAll(".near,.at")) e.classList.remove("near", "at");
  let first = null;
  for (const e of document.querySelectorAll("#source .line")) if (state.lines.has(e.dataset.line)) { e.classList.add("near"); first = first || e; }
  if (first && state.from !== "source") show(state.op ? document.querySelector(`[data-line="${lineSets[state.op.place][0]}"]`) : first);
  const ids = meant(state.stage); first = null;
  for (const e of document.querySelectorAll("#ops .op")) {
    const o = records[e.dataset.op];
    if (ids.has(o.id)) { e.classList.add("at"); first = first || e; } else if (touches(o)) { e.classList.add("near"); }
  }
  if (state.from !== "ops") show(first || document.querySelector("#ops .near"));
  const mine = stepsMeant(); first = null;
  for (const s of mine) { const e = document.querySelector(`[data-step="${s.index}"]`); e.classList.add(s.index === state.step ? "at" : "near"); first = first || e; }
  if (state.from !== "steps") show(first);
  for (const e of document.querySelectorAll("#slab .b")) if (mine.some(s => s.index === D.slab.buffers[e.dataset.buffer][3])) e.classList.add("at");
  drawKernel();
  if (state.middle === "graph") drawGraph();
}
function select(lines, op, from, step) {
  Object.assign(state, {lines: new Set(lines), op, from});
  const mine = stepsMeant(), chosen = step !== undefined ? steps[step] : mine.find(s => s.kernel >= 0) || mine[0];
  state.step = chosen ? chosen.index : -1;
  state.kernel = chosen ? chosen.kernel : -1;
  mark();
}
const selectOp = (o, from) => select(linesOf(o), o, from);
const selectStep = (i, from) => { const o = stages[last].byId.get(steps[i].op); select(o ? linesOf(o) : [], o || null, from, i); };
function setStage(i) {
  state.stage = i;
  document.querySelectorAll("#stages button").forEach((b, k) => b.classList.toggle("on", k === i));
  drawOps(); if (state.middle === "graph") drawGraph(); state.from = "stage"; mark();
}
function setTab(group, tab) {
  state[group] = tab;
  for (const b of document.querySelectorAll(`[data-group=${group}] button`)) { b.classList.toggle("on", b.dataset.tab === tab); $(b.dataset.tab).classList.toggle("on", b.dataset.tab === tab); }
  if (tab === "graph") drawGraph();
  state.from = "tab"; mark();
}

// ---- clicks ----
document.addEventListener("click", event => {
  const t = event.target.closest("[data-line],[data-op],[data-step],[data-told],[data-buffer],[data-node],[data-root],[data-tab],[data-stage]");
  if (!t) return;
  const d = t.dataset;
  if (d.line) select([d.line], null, "source");
  else if (d.op) selectOp(records[d.op], "ops");
  else if (d.step) selectStep(+d.step, "steps");
  else if (d.told) select(lineSets[D.report[d.told][1]], null, "report");
  else if (d.buffer && D.slab.buffers[d.buffer][3] >= 0) selectStep(D.slab.buffers[d.buffer][3], "slab");
  else if (d.node) { const n = $("graph").nodes[d.node]; if (n.op) selectOp(n.op, "graph"); else if (event.detail < 2) select(n.ops.flatMap(o => [...linesOf(o)].slice(0, 1)), null, "graph"); }
  else if (d.root !== undefined) { state.root = d.root; drawGraph(); }
  else if (d.tab) setTab(t.parentNode.dataset.group, d.tab);
  else if (d.stage) setStage(+d.stage);
});
document.addEventListener("dblclick", () => {
  const n = [...document.querySelectorAll("#graph .node")].find(e => e.matches(":hover"));
  const node = n && $("graph").nodes[n.dataset.node];
  if (node && node.scope) { state.root = node.scope; drawGraph(); }
});
$("find").addEventListener("input", () => { drawOps(); state.from = "find"; mark(); });

// ---- #selftest: from a source line to assembly and back; the verdict is the title ----
function selfTest() {
  const need = (ok, what) => { if (!ok) throw new Error(what); };
  const click = q => { const e = typeof q === "string" ? document.querySelector(q) : q; need(e, "nothing at " + q); e.dispatchEvent(new MouseEvent("click", {bubbles: true})); };
  const key = [...document.querySelectorAll("#source .line.has")].map(e => e.dataset.line).find(l => steps.some(s => s.kernel >= 0 && linesOf(stages[last].byId.get(s.op)).has(l)));
  need(key, "no source line has a kernel");
  click(`[data-line="${key}"]`);
  need($("kernel").textContent.includes("."), "no kernel for line " + key);
  stages.forEach((s, i) => { click(`[data-stage="${i}"]`); need(document.querySelector("#ops .at"), "line " + key + " has no op after " + s.name); });
  click('[data-tab="llvm"]'); need(/^define/m.test($("llvm").textContent), "no LLVM IR");
  click('[data-tab="asm"]'); need(/\tret/.test($("asm").textContent), "no assembly");
  need(D.kernels.every(k => k[1].length > 50 && k[2].length > 20), "a kernel without text");
  const name = D.kernels[state.kernel][0];
  click('[data-tab="steps"]');
  click(document.querySelector(`[data-step="${state.step}"]`));
  need(document.querySelector(`.line.near[data-line="${key}"]`), "the step does not lead back to line " + key);
  need(document.querySelector("#ops .at"), "the step does not lead to an op");
  need($("kernel").textContent.startsWith(name), "another kernel on the way back");
  click('[data-tab="graph"]'); need(document.querySelectorAll("#graph .node").length > 2, "no graph");
  need(document.querySelector("#graph .node.sel"), "nothing is marked in the graph");
  click(document.querySelector("#slab .b")); click('[data-tab="report"]'); click('[data-tab="ops"]');
}

// ---- start ----
$("title").textContent = D.title + " · " + D.function;
$("dims").textContent = D.dims.map(d => d.join(" = ")).join(", ");
document.title = "tfc: " + D.title;
$("stages").innerHTML = stages.map((s, i) => `<button data-stage="${i}" title="${esc(s.help)}">${esc(s.name)}</button>`).join("");
drawSource(); drawReport(); drawSteps(); drawSlab();
setTab("middle", "ops"); setTab("right", "steps"); setStage(last);
if (location.hash === "#selftest") {
  let verdict = "PASS";
  try { selfTest(); } catch (error) { verdict = "FAIL: " + error.message; }
  document.body.insertAdjacentHTML("beforeend", `<div id="verdict">selftest ${esc(verdict)}</div>`);
} else if (location.hash.startsWith("#line=")) { // "#line=0:12": file and line; "/graph" opens a tab
  const [key, middle, right] = location.hash.slice(6).split("/");
  document.querySelector(`[data-line="${key}"]`).dispatchEvent(new MouseEvent("click", {bubbles: true}));
  if (middle) setTab("middle", middle);
  if (right) setTab("right", right);
}
