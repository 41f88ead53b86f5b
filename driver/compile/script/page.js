// The page of a model: what is typed is answered as it is typed, by the model in a worker.
const {title, letters, lower, generates, predicts, attends, fields, predictions} = JSON.parse(document.getElementById("about").textContent);
const byId = id => document.getElementById(id);
const ANSWER_AFTER = 120; // ms without a key

// The bytes of base64 of gzip.
async function unpack(base64) {
  const packed = new Blob([Uint8Array.from(atob(base64), c => c.charCodeAt(0))]);
  return new Uint8Array(await new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

// In a worker, so that typing is never held up; where workers are refused, here.
function startWorker(bytes) {
  const body = `${byId("core").textContent}
    let ask;
    onmessage = async ({data: {number, bytes, request}}) => {
      try {
        if (bytes)
          ask = await instantiate(bytes);
        postMessage({number, found: request ? ask(request) : null});
      } catch (error) {
        postMessage({number, error: error.message});
      }
    };`;
  const worker = new Worker(URL.createObjectURL(new Blob([body], {type: "text/javascript"})));
  const waiting = new Map();
  let count = 0;
  worker.onmessage = ({data: {number, found, error}}) => {
    const {resolve, reject} = waiting.get(number);
    waiting.delete(number);
    if (error)
      reject(new Error(error));
    else
      resolve(found);
  };
  worker.onerror = event => {
    event.preventDefault();
    waiting.forEach(({reject}) => reject(new Error(event.message || "the worker does not start")));
    waiting.clear();
  };
  const send = message => new Promise((resolve, reject) => {
    waiting.set(++count, {resolve, reject});
    worker.postMessage({number: count, ...message});
  });
  return send({bytes}).then(() => request => send({request}));
}
const startHere = async bytes => {
  const ask = await instantiate(bytes);
  return async request => ask(request);
};

// Text as the vocabulary has it: where it is of letters, words are taken apart, one a line. A line of
// letters that stand apart is left as it is.
function toModel(text) {
  if (!letters)
    return text;
  const apart = word => [...word].join(" ");
  return (lower ? text.toLowerCase() : text).split("\n").flatMap(line => {
    const words = line.split(/\s+/).filter(word => word);
    return words.every(word => [...word].length === 1) ? [words.join(" ")] : words.map(apart);
  }).join("\n");
}

// The answers to a request; its tokens, and the unknown ones, are counted for what is shown.
const counted = {tokens: 0, unknown: 0};
async function askCounting(request) {
  const {answers, tokens, unknown} = await ask(request);
  counted.tokens += tokens;
  counted.unknown += unknown;
  return answers;
}

// Answers to lines. Where a request fails its halves are asked, down to the line that is to blame, which has the error
// in place of an answer; what is asked together changes no answer.
async function askLines(lines, settings, first = 0) {
  try {
    return (await askCounting({text: lines.join("\n"), ...settings})).map(found => ({...found, line: first + (found.line ?? 0)}));
  } catch ({message}) {
    if (lines.length === 1)
      return [{line: first, error: message.replace(/^line 1\b/, letters ? "the word" : `line ${first + 1}`)}];
    const half = lines.length >> 1;
    return [...await askLines(lines.slice(0, half), settings, first),
      ...await askLines(lines.slice(half), settings, first + half)];
  }
}

async function askRecord(record, settings) {
  try {
    return await askCounting({records: [record], ...settings});
  } catch ({message}) {
    return [{line: 0, error: message.replace(/^record 0: /, "")}];
  }
}

// The form of a record: labels to choose from, texts, numbers.
function makeForm(changed) {
  for (const {name, labels, list, width} of fields) {
    const chosen = labels && !list, box = put(byId("fields"), "label", "field", name);
    const input = put(box, chosen ? "select" : "textarea", "", "");
    if (chosen)
      labels.forEach(text => put(input, "option", "", text));
    else
      input.rows = width > 1 || list ? 2 : 1;
    if (width)
      input.placeholder = list ? `numbers, ${width} for each position` : width === 1 ? "a number" : `${width} numbers`;
    else if (labels && list)
      input.placeholder = `labels with blanks between: ${labels.slice(0, 8).join(" ")}`;
    input.addEventListener("input", changed);
  }
  byId("text").hidden = byId("label").hidden = true;
}

// The record; null while a field is empty.
function readForm() {
  const inputs = [...byId("fields").querySelectorAll("select, textarea")];
  if (inputs.some(({value}) => !value.trim()))
    return null;
  const numbers = text => text.split(/[\s,;[\]]+/).filter(word => word).map(Number);
  return Object.fromEntries(fields.map(({name, width}, i) => [name, width ? numbers(inputs[i].value) : inputs[i].value.trim()]));
}

function put(box, kind, name, text) {
  const made = box.appendChild(document.createElement(kind));
  made.className = name;
  made.textContent = text;
  return made;
}

// A line below the answers about the word that is pointed at; without one, of how to point.
const HINT = attends ? "Point at a word, touch it, or use the arrow keys: this line tells what it was made from."
  : "Point at a tag, touch it, or use the arrow keys: this line tells how probable others are.";
const explain = text => byId("told").textContent = text;
const explainHow = () => explain(document.querySelector("#answers .unit") ? HINT : "");
const mark = span => span?.classList.add("pointed");

// Pointing, touching, or the arrow keys where the box has the focus: light(place) for the unit there. width: of the
// units' rows; 0: there is one row.
function follow(box, units, light, leave, width = 0) {
  let at = -1;
  const go = to => {
    units[at]?.classList.remove("pointed");
    at = to;
    leave();
    explainHow();
    if (at < 0)
      return;
    mark(units[at]);
    light(at);
  };
  box.tabIndex = 0;
  box.addEventListener("pointerover", event => go(units.indexOf(event.target.closest(".unit, td"))));
  box.addEventListener("pointerleave", event => event.pointerType === "mouse" && go(-1));
  box.addEventListener("blur", () => go(-1));
  box.addEventListener("keydown", event => {
    const down = width && at < 0 ? 1 : width;
    const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: units.length - 1, Escape: -1,
      ...(width && {ArrowDown: at + down, ArrowUp: at - down})}[event.key];
    if (to === undefined)
      return;
    go(Math.min(Math.max(to, event.key === "Escape" ? -1 : 0), units.length - 1));
    event.preventDefault(); // the page does not scroll
  });
}

// Above the answers: how much of the text the model cannot tell apart.
function putUnknown(box) {
  const {tokens, unknown} = counted;
  if (unknown)
    box.prepend(put(box, "p", "note", `${unknown} of ${tokens} ${tokens === 1 ? "token" : "tokens"} ${unknown === 1 ? "is" : "are"} unknown to the vocabulary: the model reads such tokens as one and the same`));
}

// The text that answers follow: nothing where there is one line alone, unless it shows what they look at.
function putSource(box, lines, {line, attention, error}) {
  if (attention)
    return startPair(box, lines[line], attention, letters);
  if (lines.length > 1)
    put(box, "p", "source", letters ? lines[line].replaceAll(" ", "") : lines[line]).classList.toggle("cut", Boolean(error));
  return null;
}

function show(lines, answers) {
  const box = byId("answers");
  box.replaceChildren();
  box.classList.remove("old");
  let last = -1, place = 0, pair = null;
  for (const found of answers) {
    const {line, text, score, attention, error} = found;
    if (line !== last)
      pair = putSource(box, lines, found);
    place = line === last ? place + 1 : 0;
    last = line;
    const row = put(box, "div", error ? "answer wrong" : "answer", ""), words = put(row, "span", "words", error ?? (pair ? "" : text));
    if (pair)
      addTable(row, attention, addAnswer(pair, words, text, attention), place);
    if (score !== undefined)
      put(row, "span", "score", score.toFixed(2));
  }
  if (answers.some(({score}) => score !== undefined))
    put(box, "p", "note", "The number behind an answer is its score: its log-probability over a measure of its length.");
  putUnknown(box);
  explainHow();
}

// What is predicted: classes with their probabilities, tags above tokens, numbers.
const numbersOf = entry => [entry].flat().map(number => number?.toPrecision(4) ?? "no number").join(" ");

function putClasses(box, classes) {
  if (!classes.length)
    put(box, "p", "numbers", "none");
  for (const [name, probability] of classes) {
    const row = put(box, "div", "answer class", "");
    row.style.setProperty("--p", Math.min(Math.max(probability, 0), 1));
    put(row, "span", "words", name);
    put(row, "span", "score", probability < 0 ? `log-probability ${probability.toFixed(2)}` : percentOf(probability));
  }
}
const percentOf = share => `${(100 * share).toFixed(share > .1 && share < .999 ? 1 : 2)} %`;

function putPositions(box, entries, tokens, areClasses) {
  const row = put(box, "p", "tags", "");
  const names = entries.map((_, i) => (tokens[i] ?? "").replaceAll("▁", " ").trim() || "·");
  const units = entries.map((entry, i) => {
    const one = put(row, "ruby", areClasses ? "unit" : "", names[i]);
    put(one, "rt", "", areClasses ? entry[0][0] : numbersOf(entry));
    return one;
  });
  if (areClasses)
    follow(row, units, i => explain(`${names[i]}: ${entries[i].map(([name, share]) => `${name} ${percentOf(share)}`).join(", ")}`), () => {});
}

function putPrediction(box, name, value, tokens, isOnly) {
  if (!isOnly)
    put(box, "h2", "prediction", name);
  const {classes, positions, set} = predictions[name];
  if (positions)
    putPositions(box, value, tokens, classes);
  else if (set || classes && !Array.isArray(value[0]?.[0]))
    putClasses(box, value);
  else
    put(box, "p", "numbers", classes ? value.map(entry => entry[0][0]).join(" ") : numbersOf(value));
}

// Of sets of labels those in them are shown, however many.
const areSets = Object.values(predictions ?? {}).every(({set}) => set);

async function showPredictions(lines, top) {
  const found = [];
  for (const [line, text] of lines.entries())
    found.push(...await askLines([text], areSets ? {} : {top}, line));
  const box = byId("answers");
  box.replaceChildren();
  box.classList.remove("old");
  for (const {line, predictions, tokens, cut, error} of found) {
    putSource(box, lines, {line, error});
    if (error)
      put(box, "div", "answer wrong", error);
    for (const [name, value] of Object.entries(predictions ?? {}))
      putPrediction(box, name, value, tokens, Object.keys(predictions).length === 1);
    if (cut)
      put(box, "p", "source", `the last ${cut === 1 ? "token is" : `${cut} tokens are`} left out: the model takes no more`);
  }
  putUnknown(box);
  explainHow();
  return found;
}

let ask = null, busy = false, again = false, timer = 0;

function tell(text, wrong = false) {
  byId("status").textContent = text;
  byId("status").classList.toggle("wrong", wrong);
}

// One request at a time; what was typed meanwhile is asked for next.
async function answer() {
  if (!ask)
    return;
  if (busy) {
    again = true;
    return;
  }
  Object.assign(counted, {tokens: 0, unknown: 0});
  const record = fields.length ? readForm() : null, text = toModel(byId("text").value), count = +byId("count").value;
  if (fields.length ? !record : !text.trim()) {
    show([], []);
    tell("");
    return;
  }
  busy = true;
  byId("answers").classList.add("old");
  const begin = performance.now();
  const lines = generates || (predicts && !letters) ? [text] : text.split("\n"), settings = generates ? {} : {nbest: count};
  if (attends && lines.length * count <= MOST_PAIRS)
    settings.attention = true;
  try {
    const answers = predicts ? await showPredictions(lines, count)
      : record ? await askRecord(record, settings) : await askLines(lines, settings);
    if (!predicts)
      show(lines, answers);
    const wrong = answers.filter(({error}) => error).length;
    tell(wrong ? `${wrong} of ${lines.length} ${lines.length === 1 ? "line" : "lines"} not answered` : `${Math.round(performance.now() - begin)} ms`, wrong > 0);
  } finally {
    busy = false;
  }
  if (again) {
    again = false;
    answer();
  }
}

byId("title").textContent = document.title = title;
byId("label").textContent = generates ? "a text to go on with" : letters ? "words" : "text";
byId("count-label").hidden = generates || (predicts && areSets);
if (predicts) {
  byId("count-label").firstChild.data = "classes ";
  byId("count").value = "8";
}
byId("go").hidden = !generates;
const answerLater = () => { clearTimeout(timer); timer = setTimeout(answer, ANSWER_AFTER); };
if (fields.length)
  makeForm(answerLater);
byId("count").addEventListener("change", answer);
byId("go").addEventListener("click", answer);
if (!generates)
  byId("text").addEventListener("input", answerLater);
followTheme();
tell("loading…");
const module = byId("module");
const text = module.textContent;
module.remove();
unpack(text).then(bytes => startWorker(bytes).catch(() => startHere(bytes))).then(ready => {
  ask = ready;
  tell("");
  answer();
}, error => tell(error.message, true));
