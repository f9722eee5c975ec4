// Draws a plotly figure. plotly.js comes once for a whole page, in a model of its own: this module is
// small, and ready at once however slow the machine.
const REFERENCE = "IPY_MODEL_";
const CONFIG = { displayModeBar: false };
const LOADING = "The picture is being loaded …";
const FAILED = "The picture cannot be drawn here. The words below it say the same; to try once more,"
  + " run the cell again.";

// One promise for each version, whichever picture asks first.
const readers = (globalThis.kiplabPlotly ??= new Map());

const read = async (code) => {
  const parts = ["const module = { exports: {} };\n", code, "\nexport default module.exports;"];
  const url = URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
  try {
    return (await import(url)).default;
  } finally {
    URL.revokeObjectURL(url);
  }
};

const plotlyOf = async (model) => {
  const id = model.get("plotly").slice(REFERENCE.length);
  const shared = await model.widget_manager.get_model(id);
  const version = shared.get("version");
  if (!readers.has(version)) readers.set(version, read(shared.get("code")));
  return readers.get(version);
};

export default {
  async render({ model, el }) {
    const said = document.createElement("p");
    const figure = document.createElement("div");
    said.textContent = LOADING;
    el.append(said, figure);
    let plotly;
    try {
      plotly = await plotlyOf(model);
    } catch (problem) {
      said.textContent = FAILED;
      throw problem;
    }
    said.remove();
    let waiting = false;
    // plotly writes into what it is given, and another view may be given the same.
    const draw = () => {
      waiting = false;
      const { data, layout } = structuredClone(model.get("drawing"));
      plotly.react(figure, data, layout, CONFIG);
    };
    // Of drawings that come faster than they can be drawn, the last one counts.
    const soon = () => {
      if (!waiting) requestAnimationFrame(draw);
      waiting = true;
    };
    model.on("change:drawing", soon);
    draw();
    return () => {
      model.off("change:drawing", soon);
      plotly.purge(figure);
    };
  },
};
