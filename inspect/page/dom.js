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
const megabytes = bytes => (bytes / 1e6).toPrecision(3) + " MB";
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

function scrollTo(element) {
  if (element)
    element.scrollIntoView({block: "center", inline: "nearest"});
}
