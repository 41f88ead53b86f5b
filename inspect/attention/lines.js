// Lines between words: of one head, from each query to its keys; and the alignment of a pair.
const ROW = 20, LEAST_LINE = .02;

function showLines(place, sentence, layer, head, hover) {
  const {queries, keys} = labelsOf(sentence, layer), weights = weightsOf(sentence, layer, head), n = keys.length;
  const sides = {encoder: ["from", "looks at"], decoder: ["from", "looks at"], cross: ["predicts", "looks at"]}[layer.kind];
  const left = Math.ceil(widthOf([...queries, sides[0]])) + 8, gap = 150, right = Math.ceil(widthOf([...keys, sides[1]])) + 8;
  const rows = Math.max(queries.length, n), width = left + gap + right, height = rows * ROW + 20;
  const y = i => 20 + (i + .5) * ROW;
  const paths = [];
  for (let q = 0; q < queries.length; q++)
    for (let k = 0; k < n; k++)
      if (weights[q * n + k] >= LEAST_LINE)
        paths.push(`<path data-q="${q}" data-k="${k}" d="M${left} ${y(q)}L${left + gap} ${y(k)}" ` +
          `stroke-width="${(.6 + 2.6 * weights[q * n + k]).toFixed(2)}" style="opacity:${Math.min(1, weights[q * n + k]).toFixed(3)}"/>`);
  const word = (side, i, x, anchor, text) =>
    `<text class="token" data-${side}="${i}" x="${x}" y="${y(i) + 4}" text-anchor="${anchor}">${escapeText(text)}</text>`;
  const heading = (x, anchor, text) => `<text x="${x}" y="11" text-anchor="${anchor}" opacity=".65" style="font-size:11px">${text}</text>`;
  place.innerHTML = `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${paths.join("")}` +
    heading(left - 5, "end", sides[0]) + heading(left + gap + 5, "start", sides[1]) +
    queries.map((t, i) => word("q", i, left - 5, "end", t)).join("") +
    keys.map((t, i) => word("k", i, left + gap + 5, "start", t)).join("") + `</svg>`;
  place.onpointermove = event => {
    const token = event.target.closest(".token");
    hover(token?.dataset.q ? +token.dataset.q : -1, token?.dataset.k ? +token.dataset.k : -1);
  };
  place.onpointerleave = () => hover(-1, -1);
  return (q, k) => {
    place.classList.toggle("some", q >= 0 || k >= 0);
    place.querySelectorAll("path").forEach(path => {
      const at = q >= 0 ? +path.dataset.q === q : k >= 0 && +path.dataset.k === k;
      path.classList.toggle("at", at);
    });
    place.querySelectorAll(".token").forEach(token =>
      token.classList.toggle("at", +(token.dataset.q ?? -2) === q || +(token.dataset.k ?? -2) === k));
  };
}

// Source above, target below; a line from each token of the target to those it is made from.
function showPair(place, sentence) {
  place.innerHTML = "";
  if (sentence.aligning < 0)
    return;
  const layer = sentence.layers[sentence.aligning], weights = weightsOf(sentence, layer, MEAN), n = sentence.source.length;
  const space = 14, height = 96;
  const places = tokens => {
    let x = 8;
    return tokens.map(token => {
      const width = widthOf([token]), at = {middle: x + width / 2, end: x + width};
      x += width + space;
      return at;
    });
  };
  const above = places(sentence.source), below = places(sentence.next);
  const width = Math.max(above.at(-1).end, below.at(-1).end) + 8;
  const shift = side => (width - 8 - side.at(-1).end) / 2;
  const paths = [];
  sentence.next.forEach((_, t) => sentence.source.forEach((_, s) => {
    const weight = weights[t * n + s];
    if (weight < .1)
      return;
    const x1 = above[s].middle + shift(above), x2 = below[t].middle + shift(below);
    paths.push(`<path data-s="${s}" data-t="${t}" d="M${x1} 20C${x1} 48 ${x2} 48 ${x2} 76" ` +
      `stroke-width="${(.6 + 2.4 * weight).toFixed(2)}" style="opacity:${weight.toFixed(3)}"/>`);
  }));
  const words = (tokens, side, at, y) => tokens.map((t, i) =>
    `<text class="token" data-${side}="${i}" x="${at[i].middle + shift(at)}" y="${y}" text-anchor="middle">${escapeText(t)}</text>`).join("");
  place.innerHTML = `<p>Alignment: ${escapeText(layer.name)}, mean of heads; weights from 0.1</p>` +
    `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${paths.join("")}` +
    words(sentence.source, "s", above, 14) + words(sentence.next, "t", below, 90) + `</svg>`;
  const show = token => {
    const {s, t} = token?.dataset ?? {};
    const chosen = path => s !== undefined ? path.dataset.s === s : t !== undefined && path.dataset.t === t;
    const others = new Set();
    place.classList.toggle("some", Boolean(token));
    place.querySelectorAll("path").forEach(path => {
      path.classList.toggle("at", chosen(path));
      if (chosen(path))
        others.add(s !== undefined ? "t" + path.dataset.t : "s" + path.dataset.s);
    });
    place.querySelectorAll(".token").forEach(other => {
      const name = other.dataset.s !== undefined ? "s" + other.dataset.s : "t" + other.dataset.t;
      other.classList.toggle("at", other === token || others.has(name));
    });
  };
  place.onpointermove = event => show(event.target.closest(".token"));
  place.onpointerleave = () => show(null);
}
