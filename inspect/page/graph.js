// Drawing the graph of the scope state.root.

const NODE_HEIGHT = 24, ROW_HEIGHT = 58, GAP = 16, WIDEST_ROW = 1500;

function nodeLabel(node) {
  const label = node.label + (node.kind === "group" || node.kind === "several" ? ` (${node.ops.size})` : "");
  return label.length > 36 ? label.slice(0, 35) + "…" : label;
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
  const selected = [...node.ops].some(op => ids.has(op.id)) ? " sel" : "";
  const title = node.op ? `%${node.op.id} ${node.op.kind} : ${node.op.type}` : plural(node.ops.size, "op");
  const open = node.kind === "group" ?
    `<text class="open" data-root="${escapeHtml(node.scope)}" x="${node.x + node.width - 12}" ` +
    `y="${node.y + 16}"><title>open</title>⊞</text>` : "";
  const middle = node.x + (node.width - (open ? 14 : 0)) / 2;
  return `<g class="node ${node.kind}${selected}" data-node="${index}"><title>${escapeHtml(title)}</title>` +
    `<rect x="${node.x}" y="${node.y}" width="${node.width}" height="${NODE_HEIGHT}"/>` +
    `<text x="${middle}" y="${node.y + 16}">${escapeHtml(nodeLabel(node))}</text>${open}</g>`;
}

function drawCrumbs() {
  const parts = state.root ? state.root.split(".") : [];
  const crumbs = parts.map((part, i) =>
    ` › <a data-root="${escapeHtml(parts.slice(0, i + 1).join("."))}">${escapeHtml(part)}</a>`);
  const scope = state.op ? state.op.scope : "";
  const there = scope && scope !== state.root ?
    `<a class="there" data-root="${escapeHtml(scope)}">to ${escapeHtml(scope)}</a>` : "";
  return `<div class="crumbs"><a data-root="">${escapeHtml(DATA.function)}</a>${crumbs.join("")}${there}` +
    `<a class="there" data-back="">${state.backward ? "forward only" : "with the backward"}</a>` +
    `<small>⊞ or a double click opens a box; ∂: of the backward</small></div>`;
}

let drawn = []; // nodes by their number in the picture
function drawGraph() {
  const graph = buildGraph(stages[state.stage], state.root, state.backward), rows = layerGraph(graph);
  const size = placeNodes(rows), ids = state.lines.size ? selectedIds(state.stage) : new Set();
  drawn = graph.nodes;
  byId("graph").innerHTML = drawCrumbs() +
    `<svg width="${size.width}" height="${size.height}">${graph.edges.map(drawEdge).join("")}` +
    `${graph.nodes.map((node, i) => drawNode(node, i, ids)).join("")}</svg>`;
}

function openScope(scope) {
  state.root = scope;
  drawGraph();
}
