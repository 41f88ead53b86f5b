// The slab over time: steps to the right, offsets upwards. A part of the model has a
// colour, and its layers take turns in two shades of it.

const MOST_PARTS = 6; // those with a colour of their own; page.css has as many and one more
const scopeOf = buffer => {
  const step = steps[buffer.writer], op = step && stages[LAST].byId.get(step.op);
  return op ? op.scope.split(".") : [""];
};
const partName = buffer => scopeOf(buffer)[0] || "outside blocks";
const layerOf = buffer => +(scopeOf(buffer).find(part => /^\d+$/.test(part)) || 0);
const isAtPeak = buffer => buffer.first <= DATA.slab.step && DATA.slab.step <= buffer.last;

// Parts by what they hold over time, the largest first: {name, peak} and one for the rest.
function findParts() {
  const held = new Map(), peak = new Map();
  for (const b of buffers) {
    const name = partName(b);
    held.set(name, (held.get(name) || 0) + b.bytes * (b.last - b.first + 1));
    peak.set(name, (peak.get(name) || 0) + (isAtPeak(b) ? b.bytes : 0));
  }
  const total = [...held.values()].reduce((sum, n) => sum + n, 0);
  const parts = [...held].sort((a, b) => b[1] - a[1]).map(([name]) => ({names: [name], name, peak: peak.get(name)}));
  const large = parts.findIndex(part => held.get(part.name) < total / 1000);
  const rest = parts.splice(Math.min(MOST_PARTS, large < 0 ? MOST_PARTS : large));
  if (rest.length)
    parts.push({names: rest.map(part => part.name), name: "other",
                peak: rest.reduce((sum, part) => sum + part.peak, 0)});
  return parts;
}
const slabParts = findParts();
const partOf = buffer => slabParts.findIndex(part => part.names.includes(partName(buffer)));

function slabTools() {
  const items = slabParts.map((part, i) =>
    `<button class="key" data-part="${i}" aria-pressed="false" title="show this part up: ` +
    `${escapeHtml(part.names.join(", "))}"><i class="part${i}"></i>${escapeHtml(part.name)} ` +
    `<small>${part.peak ? bytesText(part.peak) : ""}</small></button>`);
  return `<span class="legend" aria-label="colours, with the bytes at the peak"><span>at the peak:</span>${items.join("")}` +
    '<span title="layers next to each other take turns"><i class="part0"></i><i class="part0 odd"></i>even and odd layers</span>' +
    '<span><i class="chosen"></i>selected</span><span><i class="peak"></i>peak</span></span>';
}

function bufferText(b) {
  return `#${b.number} ${b.name}: ${bytesText(b.bytes)} at ${b.offset}, steps ${b.first} to ${b.last}`;
}

function describeSlab() {
  const peak = steps[DATA.slab.step];
  return `slab ${bytesText(DATA.slab.bytes)} over ${plural(steps.length, "step")} at ` +
    `${DATA.dims.map(d => d.join(" = ")).join(", ")}; peak ${bytesText(DATA.slab.peak)} at step ` +
    `${DATA.slab.step} (${peak ? peak.name : "the end"})`;
}

function tellBuffer(buffer) {
  byId("slabtext").textContent = buffer ? bufferText(buffer) : describeSlab();
}

function drawSlab() {
  const width = Math.max(1, steps.length), scale = 1000 / DATA.slab.bytes;
  const bars = buffers.map(b =>
    `<rect class="b part${partOf(b)}${layerOf(b) % 2 ? " odd" : ""}" role="option" data-buffer="${b.index}" ` +
    `x="${b.first}" width="${Math.max(1, b.last - b.first + 1)}" ` +
    `y="${1000 - scale * (b.offset + b.bytes)}" height="${scale * b.bytes}"/>`);
  const at = DATA.slab.step + .5;
  byId("slab").innerHTML =
    `<div id="slabtext" role="presentation"></div><svg role="presentation" viewBox="0 0 ${width} 1000" preserveAspectRatio="none">` +
    `${bars.join("")}<g id="now"></g><line class="peak" x1="${at}" x2="${at}" y1="0" y2="1000"/></svg>` +
    `<div class="axis" role="presentation"><span>step 0</span><span>step ${steps.length - 1}</span></div>`;
  tellBuffer(null);
}

function markSlab(mine) {
  const writers = new Set(mine.map(step => step.index)), one = state.part === "" ? -1 : +state.part;
  byId("slab").classList.toggle("dim", mine.length > 0 || one >= 0 || words.length > 0);
  for (const element of all("#slab .b")) {
    const buffer = buffers[element.dataset.buffer];
    mark(element, "at", writers.has(buffer.writer));
    mark(element, "lit", one >= 0 && partOf(buffer) === one || words.length > 0 && holdsAnyCase(buffer.name));
  }
  for (const key of all("[data-part]"))
    key.setAttribute("aria-pressed", key.dataset.part === state.part);
  byId("now").innerHTML = mine.slice(0, 400).map(step =>
    `<line x1="${step.index + .5}" x2="${step.index + .5}" y1="970" y2="1000"/>`).join("") +
    (state.step < 0 ? "" :
      `<line class="at" x1="${state.step + .5}" x2="${state.step + .5}" y1="0" y2="1000"/>`);
}

function showPart(part) {
  state.part = state.part === part ? "" : part;
  markAll();
}
