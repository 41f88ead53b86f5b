// What is shown, kept in the address: sentence, layer, head.
const state = {sentence: 0, layer: 0, head: 0};

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const number = (name, least, below, other) => {
    const value = parseInt(given.get(name) ?? other, 10);
    return value >= least && value < below ? value : other;
  };
  state.sentence = number("sentence", 0, data.sentences.length, 0);
  const {layers, aligning} = data.sentences[state.sentence];
  state.layer = number("layer", 0, layers.length, Math.max(aligning, 0));
  state.head = number("head", MEAN, layers[state.layer].heads, aligning < 0 || layers[state.layer].heads === 1 ? 0 : MEAN);
}

function showOne() {
  const sentence = data.sentences[state.sentence], layer = sentence.layers[state.layer], theme = themeOf();
  const {queries, keys} = labelsOf(sentence, layer), weights = weightsOf(sentence, layer, state.head);
  const [entropy, distance, confidence] = layer.figures[state.head === MEAN ? layer.heads : state.head];
  byId("name").textContent = `${layer.name} · ${headName(layer, state.head)}`;
  byId("figures").textContent = `entropy ${entropy.toFixed(2)} nats · distance ${distance.toFixed(2)} tokens` +
    `${layer.kind === "cross" ? " from the diagonal" : ""} · confidence ${confidence.toFixed(2)}`;
  const hint = "Rows look at columns" + (layer.kind === "cross" ? "; a row is the step that predicts its token." : ".");
  const marks = [];
  const hover = (q, k) => {
    marks.forEach(mark => mark(q, k));
    byId("readout").textContent = q >= 0 && k >= 0
      ? `${queries[q]} → ${keys[k]}: ${layer.mean[q * keys.length + k] ? weights[q * keys.length + k].toFixed(4) : "masked"}`
      : q >= 0 ? queries[q] + " → " + topOf(keys, k => weights[q * keys.length + k])
        : k >= 0 ? "who looks at " + keys[k] + ": " + topOf(queries, i => weights[i * keys.length + k]) : hint;
  };
  marks.push(showMatrix(byId("matrix"), sentence, layer, state.head, theme, hover));
  marks.push(showLines(byId("lines"), sentence, layer, state.head, hover));
  hover(-1, -1);
  for (const thumb of byId("all").querySelectorAll(".thumb")) {
    const on = +thumb.dataset.l === state.layer && +thumb.dataset.h === state.head;
    thumb.classList.toggle("on", on);
    thumb.ariaPressed = on;
    thumb.tabIndex = on ? 0 : -1;
  }
  history.replaceState(null, "", "#" + new URLSearchParams(state));
}

// The greatest four of them.
const topOf = (labels, weight) => labels.map((label, i) => [label, weight(i)]).sort((a, b) => b[1] - a[1])
  .slice(0, 4).filter(([, w]) => w >= .01).map(([label, w]) => `${label} ${w.toFixed(2)}`).join(", ");

function showAll() {
  const sentence = data.sentences[state.sentence];
  byId("sentence").value = state.sentence;
  byId("before").disabled = state.sentence === 0;
  byId("after").disabled = state.sentence === data.sentences.length - 1;
  byId("legend").innerHTML = legend(themeOf());
  showPair(byId("pair"), sentence);
  showHeads(byId("all"), sentence, themeOf(), (layer, head, isPointed) => {
    Object.assign(state, {layer, head});
    showOne();
    if (isPointed && byId("one").getBoundingClientRect().top > innerHeight / 2) // below all heads, on a narrow screen
      byId("one").scrollIntoView();
  });
  showOne();
}

function goTo(sentence) {
  state.sentence = sentence;
  showAll();
}

function start() {
  document.title = byId("title").textContent = "Attention of " + data.title;
  for (const [i, sentence] of data.sentences.entries()) {
    const text = (sentence.source.length ? sentence.source : sentence.target).join(" ");
    byId("sentence").add(new Option(`${sentence.line + 1}: ${text.length > 90 ? text.slice(0, 90) + "…" : text}`, i));
  }
  byId("sentence").onchange = event => goTo(+event.target.value);
  byId("before").onclick = () => goTo(state.sentence - 1);
  byId("after").onclick = () => goTo(state.sentence + 1);
  byId("all").onkeydown = event => {
    const thumb = event.target.closest(".thumb"), beside = thumb && headBeside(thumb, event.key);
    if (!beside)
      return;
    event.preventDefault();
    beside.click();
    beside.focus();
  };
  const saved = () => {
    const sentence = data.sentences[state.sentence], layer = sentence.layers[state.layer];
    return [matrixSvg(sentence, layer, state.head, "light"),
      `${layer.name}.${state.head === MEAN ? "mean" : layer.head + state.head}`];
  };
  byId("svg").onclick = () => (([svg, name]) => download(svgUrl(svg), name + ".svg"))(saved());
  byId("png").onclick = () => (([svg, name]) => savePng(svg, name + ".png"))(saved());
  matchMedia("print").addEventListener?.("change", event => {
    chosenTheme = event.matches ? "light" : null;
    showTheme();
    showAll();
  });
  onhashchange = () => { readAddress(); showAll(); };
  readAddress();
  followTheme(showAll);
}
start();
