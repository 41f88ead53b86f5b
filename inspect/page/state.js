// What is shown and selected, and what the selection means at each stage.

const state = {
  stage: 0,
  lines: new Set(), // selected source lines
  calls: new Set(), // the calls around what was selected
  op: null,         // the record that was clicked
  step: -1,
  byStep: false,    // a step was chosen rather than what it comes from
  kernel: -1,
  root: "",         // scope that the graph shows
  backward: true,   // and whether with the ops that neither loss nor outputs need
  only: false,      // hide what is not selected
  changes: false,   // hide the ops that the pass left alone
  part: "",         // the part of the model that the memory shows up
  from: "",         // pane that was clicked: it does not scroll
  shown: {left: "source", middle: "graph", right: "steps", bottom: "slab", rest: "graph", single: "source"},
};

function isTouched(op) {
  for (const line of linesOf(op))
    if (state.lines.has(line))
      return true;
  return false;
}

// Ids of the ops of a stage that the selection means: the op itself or the region that
// holds it; at stages where it is not, what came from the same lines in the same scope.
function selectedIds(stageNumber) {
  const stage = stages[stageNumber];
  if (state.op && stage.byId.has(state.op.id))
    return new Set([state.op.id]);
  if (state.op && stage.regionOf.has(state.op.id))
    return new Set([stage.regionOf.get(state.op.id).id]);
  let ops = stage.ops.filter(isTouched);
  if (state.op) {
    const same = ops.filter(op => op.scope === state.op.scope);
    if (same.length)
      ops = same;
  }
  return new Set(ops.map(op => op.id));
}

function selectedSteps() {
  if (!state.lines.size)
    return [];
  const ids = selectedIds(LAST);
  return steps.filter(step => ids.has(step.op));
}
