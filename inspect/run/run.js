// The report of training runs: the axis, the theme, what lies under the pointer, and renewal.
const main = document.querySelector("main"), curves = document.getElementById("curves");
const readout = document.getElementById("readout");
let state;

function readAddress() {
  state = new URLSearchParams(location.hash.slice(1));
  chosenTheme = state.get("theme");
}

function showState() {
  const axis = state.get("axis") === "minutes" ? "minutes" : "steps";
  curves.classList.toggle("minutes", axis === "minutes");
  for (const button of curves.querySelectorAll("[data-axis]"))
    button.ariaPressed = button.dataset.axis === axis;
}

function change(name, value) {
  state.set(name, value);
  history.replaceState(null, "", "#" + state);
  showState();
}

// The axes of a plot, as its drawing tells them: values and places of their ends.
function axisOf(plot, name) {
  const [low, high, from, to] = plot.dataset[name].split(" ").map(Number);
  return at => low + (at - from) / (to - from) * (high - low);
}
const pointsOf = line => [...line.getAttribute("d").matchAll(/[ML]([\d.-]+) ([\d.-]+)/g)].map(m => [+m[1], +m[2]]);
const inWords = value => Math.abs(value) >= 1e4 ? Math.round(value).toLocaleString("en") : String(+value.toPrecision(4));

// What each line of a plot has nearest to the pointer.
function readPlot(plot, event) {
  const box = plot.getBoundingClientRect(), view = plot.viewBox.baseVal;
  const x = (event.clientX - box.left) / box.width * view.width;
  const toX = axisOf(plot, "x"), toY = axisOf(plot, "y"), parts = [];
  clearPlot(plot);
  let at = null;
  for (const line of plot.querySelectorAll("path.line[d^=M]:not([d*=h])")) {
    const near = pointsOf(line).reduce((a, b) => Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a);
    at ??= near;
    const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    dot.setAttribute("class", "at");
    dot.setAttribute("cx", near[0]);
    dot.setAttribute("cy", near[1]);
    dot.setAttribute("r", 3.5);
    plot.append(dot);
    parts.push(inWords(toY(near[1])));
  }
  const unit = curves.classList.contains("minutes") ? "minute" : "step";
  const where = toX(at ? at[0] : x);
  readout.textContent = `${plot.ariaLabel}: ${unit} ${unit === "step" ? Math.round(where).toLocaleString("en") : where.toFixed(1)}: ${parts.join(", ")}`;
}
function clearPlot(plot) {
  plot.querySelectorAll(".at").forEach(dot => dot.remove());
  readout.textContent = "";
}

for (const plot of document.querySelectorAll(".plot")) {
  plot.addEventListener("pointermove", event => readPlot(plot, event));
  plot.addEventListener("pointerleave", () => clearPlot(plot));
}
for (const button of curves.querySelectorAll("[data-axis]"))
  button.addEventListener("click", () => change("axis", button.dataset.axis));
addEventListener("hashchange", () => { readAddress(); showTheme(); showState(); });
document.title = document.querySelector("h1").textContent + " · training report";
readAddress();
showState();
followTheme(() => chosenTheme && change("theme", chosenTheme));
// While training runs the file is written again and again.
if (+main.dataset.renew)
  setTimeout(() => location.reload(), 1000 * +main.dataset.renew);
