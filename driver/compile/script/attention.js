// What the words of an answer were made from: a word that is pointed at lights the words of the other side
// by their weights, which are told below in words and numbers, and a table has the weights of all tokens.
const MOST_PAIRS = 64; // answers whose attention is asked for at once
const FAINTEST = .04; // what is lit
const BLANKS = /([ \t\r\n]+)/;
const tablesShown = new Set(); // the places of answers, from 0, that have their table open
const END_MARK = "(end)";

// Units: what is lit as one, {text, gap (what stands before it), tokens (their places)}. They are words, or
// pieces where a word has many: of letters, or where a script has no blanks. begin and end have no text.
function unitsOf(text, tokens, words) {
  const parts = text.trim().split(BLANKS), own = [], pieces = [];
  const count = (parts.length + 1) / 2;
  for (let k = 0; k < count; k++)
    own.push({text: parts[2 * k], gap: k ? parts[2 * k - 1] : "", tokens: []});
  tokens.forEach((token, i) => {
    if (words[i] < 0)
      return;
    own[Math.min(words[i], count - 1)].tokens.push(i);
    const [, gap, rest] = token.replaceAll("▁", " ").match(/^( *)(.*)$/su);
    pieces.push({text: rest, gap: pieces.length ? gap : "", tokens: [i]});
  });
  const apart = pieces.length > 4 * count || pieces.every(piece => [...piece.text].length <= 1);
  const isExact = pieces.map(piece => piece.gap + piece.text).join("") === text.trim();
  const frame = place => tokens.flatMap((token, i) => words[i] < 0 && place(i) ? [{text: "", gap: "", tokens: [i], frame: token}] : []);
  const first = words.findIndex(word => word >= 0);
  return [...frame(i => i < first), ...(apart && isExact ? pieces : own), ...frame(i => i > first)];
}

// Of each unit of the answer the weights on those of the source: sums over the source's tokens, means over its own.
const weigh = (attention, source, target) => target.map(to => source.map(from =>
  to.tokens.reduce((sum, t) => sum + from.tokens.reduce((sum, s) => sum + attention.weights[t][s], 0), 0) / (to.tokens.length || 1)));

const percent = weight => `${Math.round(weight * 100)} %`;
// The greatest weights in words: "Hund 93 %, ein 4 %".
const nameOf = unit => unit.frame ? END_MARK : unit.text;
const inWords = (weights, units) => weights.map((weight, i) => [weight, nameOf(units[i])])
  .filter(([weight]) => weight >= .05).sort((a, b) => b[0] - a[0]).slice(0, 4).map(([weight, text]) => `${text} ${percent(weight)}`).join(", ") || "many, a little each";

function putUnits(box, units, isTight) {
  return units.map(unit => {
    const span = document.createElement("span");
    span.className = unit.frame ? "unit frame" : "unit";
    span.textContent = unit.text;
    if (unit.gap && !isTight)
      box.append(unit.gap);
    box.append(span);
    return span;
  });
}

// The source of a line, above its answers, each of which addAnswer joins to it.
function startPair(box, text, attention, isTight) {
  const line = document.createElement("p");
  line.className = "source pair";
  const units = unitsOf(text, attention.source, attention.source_words);
  const pair = {units, spans: putUnits(line, units, isTight), answers: []};
  box.append(line);
  const light = i => {
    pair.answers.forEach(({spans, weights}) => paint(spans, weights.map(row => row[i])));
    const [best] = pair.answers;
    explain(`${nameOf(units[i])} → ${inWords(best.weights.map(row => row[i]), best.units)}`);
  };
  follow(line, pair.spans, light, () => clear(pair));
  return pair;
}

function addAnswer(pair, box, text, attention) {
  const units = unitsOf(text, attention.target, attention.target_words).filter(unit => !unit.frame);
  const answer = {units, spans: putUnits(box, units), weights: weigh(attention, pair.units, units)};
  pair.answers.push(answer);
  follow(box, answer.spans, i => {
    paint(pair.spans, answer.weights[i]);
    explain(`${nameOf(units[i])} ← ${inWords(answer.weights[i], pair.units)}`);
  }, () => clear(pair));
  answer.point = (t, s) => {
    clear(pair);
    mark(answer.spans[units.findIndex(unit => unit.tokens.includes(t))]);
    mark(pair.spans[pair.units.findIndex(unit => unit.tokens.includes(s))]);
  };
  return answer;
}

function paint(spans, weights) {
  spans.forEach((span, i) => {
    span.style.setProperty("--w", weights[i] < FAINTEST ? 0 : (weights[i] ** .7).toFixed(3)); // so that a tenth is seen
    span.classList.toggle("lit", weights[i] > .1);
  });
}

function clear({spans, answers}) {
  for (const span of [...spans, ...answers.flatMap(answer => answer.spans)]) {
    span.style.removeProperty("--w");
    span.classList.remove("pointed", "lit");
  }
}

// Tokens as the table names them: letters that go on with a word have a hyphen before them.
function namesOf(tokens, words) {
  const isOfLetters = tokens.every((token, i) => words[i] < 0 || [...token.replace("▁", "")].length <= 1);
  return tokens.map((token, i) =>
    (!isOfLetters && i && words[i] >= 0 && words[i] === words[i - 1] && /^\p{L}/u.test(token) ? "-" : "") + (token.replace(/^▁/, "") || token));
}

function makeTable({source, target, source_words, target_words, weights}, answer) {
  const table = document.createElement("table"), from = namesOf(source, source_words), to = namesOf(target, target_words);
  const cell = (row, kind, text = "") => {
    const made = row.appendChild(document.createElement(kind));
    made.textContent = text;
    return made;
  };
  const head = table.createTHead().insertRow(), body = table.createTBody();
  cell(head, "td").style.background = "none";
  const columns = from.map(name => cell(head, "th", name));
  columns.forEach(column => column.classList.toggle("letter", [...column.textContent].length === 1));
  const rows = to.map((name, t) => {
    const row = body.insertRow(), title = cell(row, "th", name);
    weights[t].forEach((weight, s) => {
      const made = cell(row, "td");
      made.style.setProperty("--w", weight.toFixed(3));
    });
    return title;
  });
  const point = (t, s) => {
    rows.forEach((row, i) => row.classList.toggle("pointed", i === t));
    columns.forEach((column, i) => column.classList.toggle("pointed", i === s));
    answer.point(t, s);
  };
  follow(table, [...body.querySelectorAll("td")], at => {
    const t = Math.floor(at / from.length), s = at % from.length;
    point(t, s);
    explain(`${to[t]} ← ${from[s]}: ${percent(weights[t][s])}`);
  }, () => point(-1, -1), from.length);
  return table;
}

// A button in the answer's row that shows its table below; `place`: of the answer among those of its line.
function addTable(row, attention, answer, place) {
  const button = document.createElement("button"), box = document.createElement("div");
  button.className = "table";
  button.textContent = "▦ weights";
  box.className = "weights";
  const set = shown => {
    button.setAttribute("aria-pressed", shown);
    box.hidden = !shown;
    if (shown && !box.firstChild)
      box.append(makeTable(attention, answer));
  };
  button.addEventListener("click", () => {
    const shown = box.hidden;
    if (shown)
      tablesShown.add(place);
    else
      tablesShown.delete(place);
    set(shown);
  });
  row.append(button);
  row.after(box);
  set(tablesShown.has(place));
}
