// Keeps a panel's tree up to date, and reads the code that draws it. This module is short and plain on
// purpose: anywidget keeps every message of a model until its module is there, and JupyterLab every
// message of the kernel behind them. What may fail, fails later, in a sentence.
const FAILED = "This panel cannot be drawn here. To try once more, run the cell again.";

// Of a module that comes as text: what it exports.
const read = (globalThis.kiplabRead ??= async (...parts) => {
  const url = URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
  try {
    return (await import(url)).default;
  } finally {
    URL.revokeObjectURL(url);
  }
});

// One promise for each version of the code, whichever panel asks first.
const readers = (globalThis.kiplabCode = globalThis.kiplabCode || new Map());

const reader = (model) => {
  const code = model.get("code");
  if (!readers.has(code)) readers.set(code, read(code));
  return readers.get(code);
};

const take = (tree, patch) => {
  for (const [id, traits] of Object.entries(patch)) {
    tree.parts[id] = Object.assign(tree.parts[id] || {}, traits);
  }
};

// What waits in a notebook for an answer, and is no panel.
const say = (places) => {
  for (const place of document.querySelectorAll("[data-kiplab-place]")) {
    place.textContent = places[place.dataset.kiplabPlace] ?? place.textContent;
  }
};

export default {
  initialize({ model }) {
    // A cell that is not visible may be drawn much later: the kernel hears at once that its panel is here.
    try {
      model.send({ arrived: true });
    } catch {
      // It came from a file, or its kernel is gone.
    }
    // The model's own value is changed in place: a second view begins with what is there by then.
    model.on("msg:custom", (message) => {
      const tree = model.get("tree");
      if (message.places) say(message.places);
      if (message.tree) Object.assign(tree, message.tree);
      if (!message.patch) return;
      if (message.number !== tree.number + 1) {
        model.send({ hello: tree.number });
        return;
      }
      tree.number = message.number;
      take(tree, message.patch);
    });
  },
  async render({ model, el }) {
    let draw;
    try {
      draw = await reader(model);
    } catch (problem) {
      el.textContent = FAILED;
      throw problem;
    }
    return draw({ model, el });
  },
};
