// All heads at a glance: a table a kind, a row a layer, its heads and their mean.
const KINDS = {encoder: "Encoder: source over source", decoder: "Decoder: target over itself", cross: "Cross: target over source"};

function showHeads(place, sentence, theme, choose) {
  place.replaceChildren();
  for (const [kind, title] of Object.entries(KINDS)) {
    const layers = sentence.layers.map((layer, l) => ({layer, l})).filter(({layer}) => layer.kind === kind);
    if (!layers.length)
      continue;
    const heading = document.createElement("h3"), table = document.createElement("table");
    heading.textContent = title;
    const most = Math.max(...layers.map(({layer}) => layer.heads));
    const names = [...Array(most).keys()].map(h => String(layers[0].layer.head + h));
    table.innerHTML = `<tr><th></th>${names.map(name => `<th scope="col">${name}</th>`).join("")}` +
      `${most > 1 ? '<th scope="col" class="mean">mean</th>' : ""}</tr>`;
    table.style.setProperty("--columns", most > 1 ? most + 1 : 1);
    for (const {layer, l} of layers) {
      const row = table.insertRow();
      row.innerHTML = `<th scope="row" title="${escapeText(layer.name)}">layer ${layer.layer}</th>`;
      for (let h = 0; h <= most; h++) {
        if (h === most && most === 1)
          break;
        const cell = row.insertCell(), head = h === most ? MEAN : h;
        cell.classList.toggle("mean", head === MEAN);
        if (head >= layer.heads)
          continue;
        const button = document.createElement("button"), canvas = document.createElement("canvas");
        const [entropy] = layer.figures[head === MEAN ? layer.heads : head];
        button.className = "thumb";
        Object.assign(button.dataset, {l, h: head});
        button.title = button.ariaLabel = `${layer.name}, ${headName(layer, head)}, entropy ${entropy.toFixed(2)}`;
        button.onclick = event => choose(l, head, event.detail > 0);
        paintSmall(canvas, sentence, layer, head, theme);
        button.append(canvas);
        cell.append(button);
        cell.insertAdjacentHTML("beforeend", `<div class="entropy">${entropy.toFixed(2)}</div>`);
      }
    }
    place.append(heading, table);
  }
  place.insertAdjacentHTML("beforeend", '<div class="entropy" style="text-align:left">below each head: entropy in nats</div>');
}

// Arrows lead to the heads beside, above and below, over kinds.
function headBeside(from, key) {
  const row = from.closest("tr"), column = from.closest("td").cellIndex;
  const rows = [...byId("all").querySelectorAll("tr")].filter(tr => tr.querySelector(".thumb"));
  const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[key];
  return step && rows[rows.indexOf(row) + step[0]]?.cells[column + step[1]]?.querySelector(".thumb");
}
