// One head large: tokens as rows and columns.
const textMeasure = document.createElement("canvas").getContext("2d");
function widthOf(texts) {
  textMeasure.font = '12px system-ui, "DejaVu Sans", sans-serif';
  return Math.max(10, ...texts.map(text => textMeasure.measureText(text).width));
}

// The size of a cell: large for few tokens, small for many.
function cellOf(queries, keys) {
  return Math.max(6, Math.min(24, Math.floor(620 / Math.max(queries.length, keys.length))));
}

// As SVG text whose colours are written out, so that it can be saved.
function matrixSvg(sentence, layer, head, theme) {
  const {queries, keys} = labelsOf(sentence, layer), weights = weightsOf(sentence, layer, head);
  const cell = cellOf(queries, keys), n = keys.length, size = Math.min(12, cell + 2);
  const left = Math.ceil(widthOf(queries)) + 10, top = Math.ceil(widthOf(keys)) + 10;
  const width = left + n * cell + 14, height = top + queries.length * cell + 4;
  const cells = [];
  const rect = (q, from, to, fill) => cells.push(
    `<rect x="${left + from * cell}" y="${top + q * cell}" width="${(to - from) * cell}" height="${cell}" fill="${fill}"/>`);
  queries.forEach((_, q) => {
    for (let k = 0; k < n; k++) {
      const begin = k;
      while (k < n && !layer.mean[q * n + k])
        k++;
      if (k > begin)
        rect(q, begin, k, "url(#masked)");
      if (k < n && weights[q * n + k] >= 2e-4)
        rect(q, k, k + 1, hexOf(colourOf(weights[q * n + k], theme)));
    }
  });
  const middle = i => (i + .5) * cell, style = `style="font-size:${size}px"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="12" fill="${INK[theme]}">` + hatch("masked", theme) +
    `<rect width="${width}" height="${height}" fill="${BACK[theme]}"/><g shape-rendering="crispEdges">${cells.join("")}` +
    `<rect x="${left}" y="${top}" width="${n * cell}" height="${queries.length * cell}" fill="none" stroke="${GREY[theme]}"/></g>` +
    `<rect class="cross" fill="none" stroke="#e8590c" stroke-width="2" visibility="hidden" width="${cell}" height="${cell}"/>` +
    keys.map((t, k) => `<text class="key" ${style} transform="translate(${left + middle(k) + 4} ${top - 5}) rotate(-90)">${escapeText(t)}</text>`).join("") +
    queries.map((t, q) => `<text class="query" ${style} x="${left - 5}" y="${top + middle(q) + 4}" text-anchor="end">${escapeText(t)}</text>`).join("") +
    `</svg>`;
}

// Shows it; tells `hover` of [query, key] below the pointer, or of nothing.
function showMatrix(place, sentence, layer, head, theme, hover) {
  const {queries, keys} = labelsOf(sentence, layer), cell = cellOf(queries, keys);
  place.innerHTML = matrixSvg(sentence, layer, head, theme);
  const svg = place.firstChild;
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${layer.name}, ${headName(layer, head)}`);
  const left = Math.ceil(widthOf(queries)) + 10, top = Math.ceil(widthOf(keys)) + 10;
  svg.onpointermove = event => {
    const box = svg.getBoundingClientRect();
    const k = Math.floor((event.clientX - box.x - left) / cell), q = Math.floor((event.clientY - box.y - top) / cell);
    hover(q >= 0 && q < queries.length ? q : -1, k >= 0 && k < keys.length ? k : -1);
  };
  svg.onpointerleave = () => hover(-1, -1);
  return (q, k) => {
    svg.querySelectorAll(".query").forEach((text, i) => text.classList.toggle("at", i === q));
    svg.querySelectorAll(".key").forEach((text, i) => text.classList.toggle("at", i === k));
    const cross = svg.querySelector(".cross");
    cross.setAttribute("visibility", q >= 0 && k >= 0 ? "visible" : "hidden");
    cross.setAttribute("x", left + k * cell);
    cross.setAttribute("y", top + q * cell);
  };
}
