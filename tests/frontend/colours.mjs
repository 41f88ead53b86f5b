// For test_editors: the colours of words in FOLDER/sample.tfg by the TextMate grammar that
// VS Code reads. FOLDER/expected names a column and a word for each line; FOLDER/said gets
// the groups found, in Vim's names. Reads what the grammar uses: a flat list of patterns,
// of which the one that matches first, and of these the first, takes its text.
// Usage: node colours.mjs GRAMMAR FOLDER
import {readFileSync, writeFileSync} from "node:fs";

const [grammarPath, folder] = process.argv.slice(2);
const {patterns} = JSON.parse(readFileSync(grammarPath, "utf8"));
const groups = [
  ["keyword.control", "tfgReserved"], ["constant.language", "tfgBoolean"],
  ["keyword.declaration", "tfgDeclaration"], ["support.function", "tfgFunction"],
  ["constant.numeric", "tfgNumber"], ["string", "tfgString"], ["comment", "tfgComment"],
  ["keyword.operator", "tfgRagged"],
];

// The first match of a pattern from `at`: {begin, end}, a string to its closing quote.
function find(pattern, line, at) {
  const regex = new RegExp(pattern.match ?? pattern.begin, "g");
  regex.lastIndex = at;
  const match = regex.exec(line);
  if (!match || !match[0].length)
    return null;
  const begin = match.index, end = begin + match[0].length;
  if (pattern.match)
    return {begin, end, name: pattern.name};
  const close = new RegExp(`${pattern.patterns[0].match}|(${pattern.end})`, "g");
  close.lastIndex = end;
  for (let found; (found = close.exec(line));)
    if (found[1])
      return {begin, end: close.lastIndex, name: pattern.name};
  return {begin, end: line.length, name: pattern.name};
}

function nameAt(line, column) {
  for (let at = 0; at <= column;) {
    const found = patterns.map(pattern => find(pattern, line, at)).filter(Boolean)
      .sort((a, b) => a.begin - b.begin)[0]; // sort is stable: the first of equals stays first
    if (!found || found.begin > column)
      return "none";
    if (found.end > column)
      return groups.find(([scope]) => found.name.startsWith(scope))[1];
    at = found.end;
  }
  return "none";
}

const lines = readFileSync(`${folder}/sample.tfg`, "utf8").split("\n");
const said = readFileSync(`${folder}/expected`, "utf8").trimEnd().split("\n").map((expected, i) => {
  const [, column, word] = /^(\d+) (.*) \S+$/.exec(expected);
  return `${column} ${word} ${nameAt(lines[i], column - 1)}\n`;
});
writeFileSync(`${folder}/said`, said.join(""));
