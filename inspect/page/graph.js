// Drawing the graph of the scope state.root.

const NODE_HEIGHT = 24, ROW_HEIGHT = 58, GAP = 16, WIDEST_ROW = 1500;

function nodeLabel(node) {
  const label = node.label + (node.kind === "group" || node.kind === "several" ? ` (${node.ops.size})` : "");
  return (label.length > 36 ? label.slice(0, 35) + "…" : label) + (node.hits > 1 ? ` · ${node.hits} found` : "");
}

// Rows that are too wide become several. Returns the width and the height of all.
function placeNodes(rows) {
  const lines = [];
  for (const row of rows) {
    let line = [], x = 0;
    for (const node of row) {
      node.width = 18 + 6.6 * nodeLabel(node).length + (node.kind === "group" ? 18 : 0);
      if (line.length && x + node.width > WIDEST_ROW) {
        lines.push(line);
        line = [];
        x = 0;
      }
      node.x = x;
      x += node.width + GAP;
      line.push(node);
    }
    lines.push(line);
  }
  const ends = lines.map(line => line[line.length - 1].x + line[line.length - 1].width);
  const width = Math.max(300, ...ends);
  lines.forEach((line, i) => line.forEach(node => {
    node.x += (width - ends[i]) / 2 + 10;
    node.y = 10 + i * ROW_HEIGHT;
  }));
  return {width: width + 20, height: lines.length * ROW_HEIGHT};
}

function drawEdge({from, to, back, type}) {
  const x = from.x + from.width / 2, y = from.y + NODE_HEIGHT, X = to.x + to.width / 2;
  const bend = Math.max(20, Math.abs(to.y - y) / 3);
  const way = `M${x} ${y}C${x} ${y + bend} ${X} ${to.y - bend} ${X} ${to.y}`;
  return `<path class="${back ? "back" : to.layer > from.layer + 1 ? "far" : ""}" d="${way}">` +
    `<title>${escapeHtml(type)}</title></path>`;
}

function drawNode(node, index, ids) {
  const selected = [...node.ops].some(op => ids.has(op.id)), classes =
    `node ${node.kind}${selected ? " sel" : ""}${node.hits ? " hit" : ""}`;
  const title = node.op ? `%${node.op.id} ${node.op.kind} : ${node.op.type}` : plural(node.ops.size, "op");
  const open = node.kind === "group" ?
    `<text class="open" data-root="${escapeHtml(node.scope)}" x="${node.x + node.width - 12}" ` +
    `y="${node.y + 16}"><title>open</title>⊞</text>` : "";
  const middle = node.x + (node.width - (open ? 14 : 0)) / 2;
  return `<g class="${classes}" role="option" aria-selected="${selected}" data-node="${index}"><title>${escapeHtml(title)}</title>` +
    `<rect x="${node.x}" y="${node.y}" width="${node.width}" height="${NODE_HEIGHT}"/>` +
    `<text x="${middle}" y="${node.y + 16}">${escapeHtml(nodeLabel(node))}</text>${open}</g>`;
}

function graphTools() {
  const kinds = [["group", "scope"], ["product", "product"], ["region", "fused region"], ["outside", "elsewhere"]];
  return `<label title="with the ops that neither loss nor outputs need: gradients (∂) and the update">` +
    `<input type="checkbox" id="backward" checked> backward</label><span class="legend">` +
    `${kinds.map(([kind, name]) => `<span><i class="${kind}"></i>${name}</span>`).join("")}</span>`;
}

function drawCrumbs() {
  const link = (scope, text) => `<button class="link" data-root="${escapeHtml(scope)}">${escapeHtml(text)}</button>`;
  const parts = state.root ? state.root.split(".") : [];
  const crumbs = parts.map((part, i) => " › " + link(parts.slice(0, i + 1).join("."), part));
  const scope = state.op ? state.op.scope : "";
  const there = scope && scope !== state.root ? " " + link(scope, "to " + scope) : "";
  return `<div class="crumbs" role="presentation">${link("", DATA.function)}${crumbs.join("")}${there}` +
    `<small>${parts.length ? "" : "⊞, a double click or + opens a box"}</small></div>`;
}

let drawn = []; // nodes by their number in the picture
function drawGraph() {
  const graph = buildGraph(stages[state.stage], state.root, state.backward), rows = layerGraph(graph);
  for (const node of graph.nodes)
    node.hits = words.length ? [...node.ops].filter(isFound).length : 0;
  const size = placeNodes(rows), ids = state.lines.size ? selectedIds(state.stage) : new Set();
  const lost = words.length && !graph.nodes.some(node => node.hits) ? emptyText("op of this picture") : "";
  drawn = graph.nodes;
  byId("graph").innerHTML = drawCrumbs() + lost +
    `<svg role="presentation" width="${size.width}" height="${size.height}">${graph.edges.map(drawEdge).join("")}` +
    `${graph.nodes.map((node, i) => drawNode(node, i, ids)).join("")}</svg>`;
  if (state.from !== "graph")
    scrollTo(byId("graph").querySelector(".node.hit, .node.sel"));
}

function openScope(scope) {
  state.root = scope;
  delete cursors.graph;
  state.from = "graph";
  drawGraph();
  byId("graph").scrollTop = byId("graph").scrollLeft = 0;
  restoreCursor(byId("graph"));
}

// ---- keys ----

const nodeElement = node => document.querySelector(`#graph [data-node="${drawn.indexOf(node)}"]`);
const openNode = element => drawn[element.dataset.node].scope && openScope(drawn[element.dataset.node].scope);
const closeScope = () => openScope(state.root.split(".").slice(0, -1).join("."));

// The nearest node in the direction of the arrow; a row of the picture is one line of nodes.
function nodeBeside(element, key) {
  const from = drawn[element.dataset.node], middle = node => node.x + node.width / 2;
  const down = {ArrowDown: 1, ArrowUp: -1}[key] || 0, right = {ArrowRight: 1, ArrowLeft: -1}[key] || 0;
  const distance = node => down ? (node.y - from.y) * down * 1e5 + Math.abs(middle(node) - middle(from))
                                : (middle(node) - middle(from)) * right;
  const there = drawn.filter(node => down ? (node.y - from.y) * down > 0
                                          : node.y === from.y && distance(node) > 0);
  return there.length ? nodeElement(there.reduce((a, b) => distance(b) < distance(a) ? b : a)) : element;
}
