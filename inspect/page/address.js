// The address tells what is shown, so that it can be kept and sent, and the browser's back
// button leads back: "#line=prelude.tfg:9/stage=expand/graph/asm". A line, an op or a step
// is selected, a pass chosen, words searched, and these panes are open.

function currentAddress() {
  const parts = [];
  if (state.byStep)
    parts.push("step=" + state.step);
  else if (state.op)
    parts.push("op=" + state.op.record);
  else if (state.lines.size)
    parts.push("line=" + encodeURIComponent(lineName([...state.lines][0])));
  if (state.stage)
    parts.push("stage=" + stages[state.stage].name);
  if (words.length)
    parts.push("find=" + encodeURIComponent(words.join(" ")));
  parts.push(...new Set(Object.values(layout).map(place => state.shown[place]).filter(Boolean)));
  return "#" + parts.join("/");
}

let addressIsRead = true; // nothing is written while one is opened
function writeAddress() {
  const address = currentAddress(), selection = a => a.split("/").filter(p => /^#?(op|line|step)=/.test(p)).join();
  if (addressIsRead || address === location.hash)
    return;
  try {
    history[selection(address) === selection(location.hash) ? "replaceState" : "pushState"](null, "", address);
  } catch {
    // a page shown inside another has no address of its own
  }
}

const openers = {
  line(name) {
    const one = sourceLines.find(l => lineName(l.line) === name);
    if (one)
      select([one.line], null, "address");
  },
  op: record => records[record] && selectOp(records[record], "address"),
  step: index => steps[index] && selectStep(+index, "address"),
  stage(name) {
    const index = stages.findIndex(stage => stage.name === name);
    if (index >= 0)
      setStage(index);
  },
  find: text => setFind(text),
};

function openAddress(hash) {
  const parts = hash.replace(/^#/, "").split("/").map(decodeURIComponent);
  const names = parts.map(part => part.split("=", 1)[0]);
  addressIsRead = true;
  if (!names.includes("line") && !names.includes("op") && !names.includes("step"))
    select([], null, "address");
  if (!names.includes("find"))
    setFind("");
  parts.forEach((part, i) => openers[names[i]] && openers[names[i]](part.slice(names[i].length + 1)));
  for (const part of parts)
    if (paneOf(part))
      showPane(part);
  addressIsRead = false;
}
