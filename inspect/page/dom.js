// The page of one compilation. Everything hangs on a selection: source lines and, where
// an op was clicked, that op; every pane marks what belongs to it. This file: the few
// helpers that all others use.
"use strict";

const byId = id => document.getElementById(id);
const all = selector => document.querySelectorAll(selector);
const escapes = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"};
const escapeHtml = text => String(text).replace(/[&<>"]/g, c => escapes[c]);

// 1234567 as "1.23 M".
function short(n) {
  for (const [size, unit] of [[1e9, " G"], [1e6, " M"], [1e3, " k"]])
    if (n >= size)
      return (n / size).toPrecision(3) + unit;
  return n + " ";
}
const bytesText = bytes => (bytes < 1e3 ? bytes + " " : short(bytes)) + "B";
const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
const baseName = path => path.slice(path.lastIndexOf("/") + 1);
// "encoder.layer.3.self" as "encoder.layer.*.self".
const anyLayer = text => text.replace(/\.\d+(?=[. :]|$)/g, ".*");

function count(list, key) {
  const counts = new Map();
  for (const item of list)
    counts.set(key(item), (counts.get(key(item)) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

// Within its own pane alone, and not at all where that is out of sight.
function scrollTo(element) {
  const body = element && element.closest(".body");
  if (!body || !body.clientHeight)
    return;
  const box = element.getBoundingClientRect(), view = body.getBoundingClientRect();
  body.scrollTop += box.top + box.height / 2 - view.top - body.clientHeight / 2;
  if (box.right > view.right || box.left < view.left)
    body.scrollLeft += Math.min(box.left, Math.max(view.left, box.right - body.clientWidth + 8)) - view.left - 8;
}

// As scrollTo, by no more than it takes: what moves step by step stays calm.
function scrollNear(element) {
  element.scrollIntoView({block: "nearest", inline: "nearest"});
}

// Sets a class, and what is said of it to those who do not see it, where it changes.
function mark(element, name, on) {
  if (element.classList.contains(name) === on)
    return;
  element.classList.toggle(name, on);
  if (name === "at" || name === "near")
    element.setAttribute("aria-selected", element.matches(".at, .near"));
}

// What the reader arranged (sizes, theme, wrapped lines) stays for the next page, where
// the browser keeps anything for files.
function kept(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem("tfc." + key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}
function keep(key, value) {
  try {
    localStorage.setItem("tfc." + key, JSON.stringify(value));
  } catch {
    // nothing is kept
  }
}
