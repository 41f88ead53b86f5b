// Keys in lists and groups of buttons. Each is one stop of the Tab key; arrows move in it.
// A list keeps the focus itself and has a cursor, the row that Enter selects, so that
// drawing it anew loses nothing.

const rowsOf = body => [...body.querySelectorAll(paneOf(body.id).rows)];
const cursors = {}; // of each list: [name, value] of the row's data

function setCursor(body, row) {
  for (const old of body.querySelectorAll(".cursor")) {
    old.classList.remove("cursor");
    old.removeAttribute("id");
  }
  if (!row) {
    body.removeAttribute("aria-activedescendant");
    return;
  }
  row.classList.add("cursor");
  row.id = body.id + "-cursor";
  body.setAttribute("aria-activedescendant", row.id);
  cursors[body.id] = Object.entries(row.dataset)[0];
}

// Where the cursor is, was before the list was drawn anew, or starts: at what is selected.
function cursorOf(body) {
  const here = body.querySelector(".cursor");
  if (here)
    return here;
  const [name, value] = cursors[body.id] || [];
  return (name && body.querySelector(`[data-${name}="${value}"]`)) ||
    body.querySelector(".at, .near, .sel") || rowsOf(body)[0];
}

function restoreCursor(body) {
  if (document.activeElement === body && !body.querySelector(".cursor"))
    setCursor(body, cursorOf(body));
}

const PAGE_ROWS = 20;
const MOVES = {ArrowDown: 1, ArrowUp: -1, PageDown: PAGE_ROWS, PageUp: -PAGE_ROWS, ArrowRight: 1, ArrowLeft: -1};

function rowAfter(body, row, key) {
  const pane = paneOf(body.id);
  if (pane.move && key.startsWith("Arrow"))
    return pane.move(row, key);
  const rows = rowsOf(body), at = rows.indexOf(row);
  const next = key === "Home" ? 0 : key === "End" ? rows.length - 1 : at + MOVES[key];
  return rows[Math.max(0, Math.min(rows.length - 1, next))];
}

// True if the key was one of the list's.
function listKey(body, key) {
  const row = cursorOf(body), pane = paneOf(body.id);
  const sideways = key === "ArrowLeft" || key === "ArrowRight";
  if (!row || sideways && !pane.sideways)
    return false;
  if (key === "Enter" || key === " ") {
    setCursor(body, row);
    row.dispatchEvent(new MouseEvent("click", {bubbles: true}));
  } else if (key === "Home" || key === "End" || MOVES[key]) {
    const next = (body.querySelector(".cursor") ? rowAfter(body, row, key) : row) || row;
    setCursor(body, next);
    scrollNear(next);
    if (pane.visit)
      pane.visit(next);
  } else
    return pane.keys && pane.keys[key] ? (pane.keys[key](row), true) : false;
  return true;
}

// Tabs and stages: arrows choose the next one.
function groupKey(group, key) {
  const buttons = [...group.querySelectorAll("button")], at = buttons.indexOf(document.activeElement);
  const by = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[key];
  const next = key === "Home" ? 0 : key === "End" ? buttons.length - 1 : by && at + by;
  if (next === undefined || at < 0)
    return false;
  const button = buttons[(next + buttons.length) % buttons.length];
  button.click();
  button.focus();
  return true;
}

// One of a group is chosen: it is the stop of the Tab key.
function choose(button, on, said) {
  button.classList.toggle("on", on);
  button.setAttribute(said, on);
  button.tabIndex = on ? 0 : -1;
}

document.addEventListener("focusin", event => {
  const pane = event.target.matches(".body") && paneOf(event.target.id);
  if (pane && pane.rows && cursorOf(event.target))
    setCursor(event.target, cursorOf(event.target));
});
