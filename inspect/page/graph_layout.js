// The graph of one scope: its ops, and deeper scopes as boxes, in layers.

// The ops that the loss (or the outputs) need; the rest is the backward and the update.
function forwardIds(stage, producer) {
  const isLoss = op => op.kind === "output" && op.attrs.includes('"loss"');
  const outputs = stage.ops.filter(op => op.kind === "output");
  const seen = new Set(), open = outputs.some(isLoss) ? outputs.filter(isLoss) : outputs;
  while (open.length) {
    const op = open.pop();
    if (seen.has(op.id))
      continue;
    seen.add(op.id);
    for (const value of op.args)
      if (producer.has(value))
        open.push(producer.get(value));
  }
  return seen;
}

// The op that gives each value of a stage.
const producersOf = stage => new Map(stage.ops.flatMap(op =>
  Array.from({length: Math.max(1, op.results)}, (_, i) => [op.id + i, op])));
// What stands before the names of ops that only the backward needs.
const backMark = (op, forward) => !op || forward.has(op.id) || op.scope.startsWith("optimizer") ? "" : "∂ ";

// The next name below the root, with the number of a layer: "encoder", "layer.3".
function headBelow(root, scope) {
  const parts = (root ? scope.slice(root.length + 1) : scope).split(".");
  return parts.slice(0, /^\d/.test(parts[1] || "") ? 2 : 1).join(".");
}

// A scope outside the root, as coarse as tells it from the root: "encoder.layer.1".
function headOutside(root, scope) {
  const a = root.split("."), b = scope.split(".");
  let same = 0;
  while (same < a.length && a[same] === b[same])
    same++;
  return b.slice(0, /^\d/.test(b[same + 1] || "") ? same + 2 : same + 1).join(".");
}

const isWithin = (root, scope) => !root || scope === root || scope.startsWith(root + ".");

function bodyKinds(op) {
  const kinds = op.body.map(inner => records[inner].kind);
  const said = kinds.filter(kind => kind !== "const" && kind !== "yield");
  return [...new Set(said)].slice(0, 5).join(" ");
}

// The node that an op belongs to: {key, label, kind, scope or op}.
function nodeOf(op, root, forward) {
  const back = backMark(op, forward);
  if (!isWithin(root, op.scope)) {
    const head = headOutside(root, op.scope);
    return {key: "out:" + back + (head || op.kind), label: back + (head || op.kind), scope: head,
            kind: "outside"};
  }
  const head = headBelow(root, op.scope);
  if (head)
    return {key: "in:" + back + head, label: back + head, kind: "group",
            scope: root ? root + "." + head : head};
  if (["param", "const", "assign"].includes(op.kind) || !root && back)
    return {key: "kind:" + back + op.kind, label: back + op.kind + "s", kind: "several"};
  const name = /name = "([^"]*)"/.exec(op.attrs);
  const label = op.body.length ? `${op.kind}: ${bodyKinds(op)}` : op.kind + (name ? " " + name[1] : "");
  return {key: "op:" + op.id, label, op,
          kind: op.kind === "dot" ? "product" : op.kind === "row" || op.kind === "column" ? "region" : ""};
}

function buildGraph(stage, root, withBackward) {
  const producer = producersOf(stage), nodes = new Map(), edges = new Map();
  const forward = forwardIds(stage, producer);
  const isInside = op => isWithin(root, op.scope);
  const ops = withBackward ? stage.ops : stage.ops.filter(op => forward.has(op.id));
  const add = op => {
    const node = nodeOf(op, root, forward);
    if (!nodes.has(node.key))
      nodes.set(node.key, {...node, ops: new Set()});
    nodes.get(node.key).ops.add(op);
    return node.key;
  };
  ops.filter(isInside).forEach(add);
  for (const op of ops)
    for (const value of op.args) {
      const from = producer.get(value);
      if (!from || !isInside(op) && !isInside(from) || from.kind === "const" ||
          from.kind === "param" && !isInside(from))
        continue;
      const a = add(from), b = add(op);
      if (a !== b)
        edges.set(a + "→" + b, {from: nodes.get(a), to: nodes.get(b), type: from.type});
    }
  return {nodes: [...nodes.values()], edges: [...edges.values()]};
}

// Edges against the order of a depth-first walk are drawn back, so that layers exist.
function findBackEdges(graph) {
  const next = new Map(graph.nodes.map(node => [node, []])), mark = new Map();
  for (const edge of graph.edges)
    next.get(edge.from).push(edge);
  const visit = node => {
    mark.set(node, "open");
    for (const edge of next.get(node)) {
      if (mark.get(edge.to) === "open")
        edge.back = true;
      else if (!mark.has(edge.to))
        visit(edge.to);
    }
    mark.set(node, "done");
  };
  for (const node of graph.nodes)
    if (!mark.has(node))
      visit(node);
}

// Each node below all that it needs; in a row by where its neighbours stand.
function layerGraph(graph) {
  findBackEdges(graph);
  for (const node of graph.nodes)
    node.layer = 0;
  for (let round = 0, moved = true; moved && round <= graph.nodes.length; round++) {
    moved = false;
    for (const edge of graph.edges)
      if (!edge.back && edge.to.layer <= edge.from.layer) {
        edge.to.layer = edge.from.layer + 1;
        moved = true;
      }
  }
  // What needs nothing stands right above its first user.
  for (const node of graph.nodes) {
    const users = graph.edges.filter(edge => edge.from === node && !edge.back);
    if (users.length && !graph.edges.some(edge => edge.to === node && !edge.back))
      node.layer = Math.min(...users.map(edge => edge.to.layer)) - 1;
  }
  const rows = [];
  for (const node of graph.nodes)
    (rows[node.layer] = rows[node.layer] || []).push(node);
  const filled = rows.filter(Boolean);
  filled.forEach((row, i) => row.forEach(node => node.layer = i));
  sortRows(graph, filled);
  return filled;
}

function sortRows(graph, rows) {
  const near = new Map(graph.nodes.map(node => [node, []]));
  for (const {from, to} of graph.edges) {
    near.get(from).push(to);
    near.get(to).push(from);
  }
  const settle = row => row.forEach((node, i) => node.at = (i + .5) / row.length);
  rows.forEach(settle);
  for (let sweep = 0; sweep < 8; sweep++)
    for (const row of rows) {
      for (const node of row) {
        const others = near.get(node);
        node.want = others.length ? others.reduce((sum, o) => sum + o.at, 0) / others.length : node.at;
      }
      row.sort((a, b) => a.want - b.want);
      settle(row);
    }
}
