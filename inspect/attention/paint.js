// Colours of weights: by the square root, so that small ones are seen, too. Those on white are also
// those of figures (inspect/attention_svg.c).
const RAMPS = {
  light: data.palette.ramp,
  dark: [[20, 24, 29], [19, 57, 96], [32, 108, 176], [104, 178, 234], [226, 242, 255]],
};
const MASKED = {light: data.palette.masked, dark: ["#20242a", "#343a43"]};
const INK = {light: "#1f2733", dark: "#d9dfe7"}, BACK = {light: "#ffffff", dark: "#14181d"};
const GREY = {light: data.palette.frame, dark: "#59636f"};

function colourOf(weight, theme) {
  const ramp = RAMPS[theme], at = Math.sqrt(Math.min(weight, 1)) * (ramp.length - 1);
  const low = Math.min(Math.floor(at), ramp.length - 2);
  return ramp[low].map((c, i) => Math.round(c + (at - low) * (ramp[low + 1][i] - c)));
}
const hexOf = rgb => "#" + rgb.map(c => c.toString(16).padStart(2, "0")).join("");

// A head as a picture of one dot a weight; masked ones are grey.
function paintSmall(canvas, sentence, layer, head, theme) {
  const {queries, keys} = labelsOf(sentence, layer), weights = weightsOf(sentence, layer, head);
  canvas.width = keys.length;
  canvas.height = queries.length;
  const context = canvas.getContext("2d"), image = context.createImageData(keys.length, queries.length);
  const grey = MASKED[theme][1].match(/\w\w/g).map(hex => (parseInt(hex, 16) + parseInt(MASKED[theme][0].slice(1, 3), 16)) / 2);
  weights.forEach((weight, i) => image.data.set([...(layer.mean[i] ? colourOf(weight, theme) : grey), 255], 4 * i));
  context.putImageData(image, 0, 0);
}

function legend(theme) {
  const width = 200, steps = [...Array(50).keys()];
  return `<svg width="330" height="30" viewBox="-8 0 330 30">` + hatch("legend-mask", theme) +
    steps.map(i => `<rect x="${i * 4}" width="4.3" height="10" fill="${hexOf(colourOf(((i + .5) / 50) ** 2, theme))}"/>`).join("") +
    `<rect width="${width}" height="10" fill="none" stroke="${GREY[theme]}"/>` +
    data.palette.marks.map(m => `<text x="${Math.sqrt(m) * width}" y="23" text-anchor="middle" style="font-size:10px">${m}</text>`).join("") +
    `<rect x="${width + 26}" width="18" height="10" fill="url(#legend-mask)" stroke="${GREY[theme]}"/>` +
    `<text x="${width + 50}" y="10" style="font-size:11px">masked</text></svg>`;
}

const hatch = (id, theme) => `<defs><pattern id="${id}" width="4" height="4" patternUnits="userSpaceOnUse">` +
  `<rect width="4" height="4" fill="${MASKED[theme][0]}"/><path d="M0 4L4 0" fill="none" stroke="${MASKED[theme][1]}" stroke-width=".7"/></pattern></defs>`;
