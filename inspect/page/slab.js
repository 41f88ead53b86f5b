// The slab over time: steps to the right, offsets upwards.

// One hue for each part of the model, a lightness for each of its layers.
function bufferColour(buffer) {
  const scope = buffer.name.split(" ")[0].split("."), hues = {encoder: 210, decoder: 30};
  let hue = hues[scope[0]];
  if (hue === undefined)
    hue = [...scope[0]].reduce((h, c) => h * 31 + c.charCodeAt(0), 7) % 120 + 260;
  const layer = +(scope.find(part => /^\d+$/.test(part)) || 0);
  return `hsl(${hue} 60% ${45 + layer % 2 * 17}%)`;
}

function bufferText(b) {
  return `#${b.number} ${b.name}: ${megabytes(b.bytes)} at ${b.offset}, steps ${b.first} to ${b.last}`;
}

function describeSlab() {
  const peak = steps[DATA.slab.step];
  return `slab ${megabytes(DATA.slab.bytes)} over ${plural(steps.length, "step")} at ` +
    `${DATA.dims.map(d => d.join(" = ")).join(", ")}; peak ${megabytes(DATA.slab.peak)} at step ` +
    `${DATA.slab.step} (${peak ? peak.name : "the end"})`;
}

function drawSlab() {
  const width = Math.max(1, steps.length), scale = 1000 / DATA.slab.bytes;
  const bars = buffers.map(b =>
    `<rect class="b" data-buffer="${b.index}" x="${b.first}" width="${Math.max(1, b.last - b.first + 1)}" ` +
    `y="${1000 - scale * (b.offset + b.bytes)}" height="${scale * b.bytes}" fill="${bufferColour(b)}"/>`);
  const at = DATA.slab.step + .5;
  byId("slab").innerHTML =
    `<svg viewBox="0 0 ${width} 1000" preserveAspectRatio="none">${bars.join("")}<g id="now"></g>` +
    `<line class="peak" x1="${at}" x2="${at}" y1="0" y2="1000"/></svg>`;
  byId("slabtext").textContent = describeSlab();
}

function markSlab(mine) {
  const writers = new Set(mine.map(step => step.index));
  for (const element of all("#slab .b"))
    element.classList.toggle("at", writers.has(buffers[element.dataset.buffer].writer));
  byId("now").innerHTML = mine.slice(0, 400).map(step =>
    `<line x1="${step.index + .5}" x2="${step.index + .5}" y1="970" y2="1000"/>`).join("") +
    (state.step < 0 ? "" :
      `<line class="at" x1="${state.step + .5}" x2="${state.step + .5}" y1="0" y2="1000"/>`);
}
