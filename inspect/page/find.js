// The search, one field for all panes. A text is found if it holds every word. Lists show
// what is found alone; where that is nothing, they offer the stage or pane that has it.

let words = [];
let foundOps = new Uint8Array(records.length); // of each record: 0 not asked yet, 1 no, 2 yes
let stageHits = stages.map(() => 0);

const holds = text => words.every(word => text.includes(word));
const holdsAnyCase = text => holds(text.toLowerCase());

function opHolds(op) {
  op.text = op.text || `%${op.id} ${op.kind} ${op.scope} ${op.type} ${op.attrs}`.toLowerCase();
  return holds(op.text);
}

// A region is found with the ops inside it.
function isFound(op) {
  if (!foundOps[op.record])
    foundOps[op.record] = opHolds(op) || op.body.some(inner => opHolds(records[inner])) ? 2 : 1;
  return foundOps[op.record] === 2;
}

const countFound = (list, text) => list.reduce((n, item) => n + holdsAnyCase(text(item)), 0);

function setFind(text) {
  words = text.toLowerCase().split(/\s+/).filter(Boolean);
  foundOps = new Uint8Array(records.length);
  stageHits = stages.map(stage => words.length ? stage.ops.filter(isFound).length : 0);
  if (byId("find").value !== text)
    byId("find").value = text;
  state.from = "find";
  drawFound();
  markStages();
  redraw("ops", "steps", "report");
}

// The stage with something found that is nearest to the one shown, or -1.
function nearestStage() {
  let nearest = -1;
  stageHits.forEach((hits, i) => {
    if (hits && (nearest < 0 || Math.abs(i - state.stage) < Math.abs(nearest - state.stage)))
      nearest = i;
  });
  return nearest;
}

const stageButton = i =>
  `<button data-stage="${i}">${plural(stageHits[i], "op")} after ${escapeHtml(stages[i].name)}</button>`;

// Buttons to where something is found; of stages those next to the one shown.
function waysToFound() {
  const near = stages.map((_, i) => i).filter(i => stageHits[i] && i !== state.stage);
  const ways = [near.filter(i => i < state.stage).pop(), near.find(i => i > state.stage)]
    .filter(i => i !== undefined).map(stageButton);
  for (const pane of PANES) {
    const hits = pane.hits ? pane.hits() : 0;
    if (hits)
      ways.push(`<button data-tab="${pane.id}">${pane.title} ${hits}</button>`);
  }
  return ways.join(" ");
}

function drawFound() {
  const on = words.length > 0, some = stageHits.filter(Boolean).length;
  byId("found").classList.toggle("on", on);
  const here = stageHits[state.stage] ? plural(stageHits[state.stage], "op") : "no op";
  byId("found").innerHTML = !on ? "" :
    `<span><b>“${escapeHtml(words.join(" "))}”</b> ${here} after ${escapeHtml(stages[state.stage].name)}, ` +
    `some after ${some} of ${stages.length} passes ${waysToFound() || "; nothing is found anywhere"}</span>` +
    `<button data-nofind="" aria-label="end the search">✕</button>`;
}

// What stands in a list that has nothing to show.
function emptyText(what) {
  if (words.length)
    return `<div class="empty"><p>No ${what} matches “${escapeHtml(words.join(" "))}”` +
      `${state.only && state.lines.size ? " among what is selected" : ""}.</p><p>${waysToFound()} ` +
      `<button data-nofind="">end the search</button></p></div>`;
  if (state.only && state.lines.size)
    return `<div class="empty"><p>Nothing selected is here.</p>` +
      `<p><button data-everything="">show everything</button></p></div>`;
  return `<div class="empty"><p>No ${what} here.</p></div>`;
}

// Enter in the field: to the nearest stage that has it, and then into its list.
function goToFound() {
  if (!words.length)
    return;
  if (!stageHits[state.stage] && nearestStage() >= 0)
    setStage(nearestStage());
  const pane = [paneOf("ops"), ...PANES].find(p => p.hits && p.hits());
  if (!pane)
    return;
  showPane(pane.id);
  const body = byId(pane.id), first = pane.rows && body.querySelector(pane.rows + ".hit, " + pane.rows);
  if (first)
    setCursor(body, first);
  body.focus();
}

// The words themselves, where the browser can draw them without changing the text.
const MOST_RANGES = 3000;
function highlightFound() {
  if (!CSS.highlights)
    return;
  const ranges = [];
  for (const pane of PANES.filter(isShown).filter(() => words.length)) {
    const walker = document.createTreeWalker(byId(pane.id), NodeFilter.SHOW_TEXT);
    for (let node; ranges.length < MOST_RANGES && (node = walker.nextNode());)
      for (const word of words)
        for (let at = -1, text = node.data.toLowerCase(); (at = text.indexOf(word, at + 1)) >= 0;) {
          const range = new Range();
          range.setStart(node, at);
          range.setEnd(node, Math.min(at + word.length, node.length));
          ranges.push(range);
        }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}
