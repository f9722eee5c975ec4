// Draws plotly figures. plotly.js comes once for a whole page, in a model of its own.
const CONFIG = { displayModeBar: false };
const LOADING = "The picture is being loaded …";
const FAILED = "The picture cannot be drawn here. The words below it say the same; to try once more,"
  + " run the cell again.";
const TRIES = 30;

// One promise for each version, whichever picture asks first.
const plotlyReaders = (globalThis.kiplabPlotly ??= new Map());

// A slow machine may not have read the model yet, and is asked again: each try takes two seconds.
const modelOf = async (model, id) => {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await model.widget_manager.get_model(id);
    } catch (problem) {
      if (!left) throw problem;
    }
  }
};

const plotlyOf = async (model) => {
  const shared = await modelOf(model, model.get("plotly"));
  const version = shared.get("version");
  const read = (code) => kiplabRead("const module = { exports: {} };\n", code, "\nexport default module.exports;");
  if (!plotlyReaders.has(version)) plotlyReaders.set(version, read(shared.get("code")));
  return plotlyReaders.get(version);
};

// plotly writes into what it is given, and another view may be given the same.
const plot = async ({ plotly }, figure, drawing) => {
  Object.assign(figure, { target: drawing, drawing: null });
  const { data, layout } = structuredClone(drawing);
  await plotly.react(figure, data, layout, CONFIG);
  if (figure.target === drawing) figure.drawing = drawing;
};

// Draws the picture of a step that is likely to come beside the page, while nobody waits.
const prepare = (element, drawing) => {
  if (!element.plotly || element.waiting || element.spare?.drawing === drawing) return;
  element.spare ??= make("div");
  plot(element, element.spare, drawing);
};

const draw = async (element, drew) => {
  if (element.spare?.drawing === element.drawing) {
    element.figure.replaceWith(element.spare);
    [element.figure, element.spare] = [element.spare, element.figure];
  } else await plot(element, element.figure, element.drawing);
  // What can be scrolled has to be reached by keyboard too.
  if (!element.overlay && element.scrollWidth > element.clientWidth + 1) element.tabIndex = 0;
  else element.removeAttribute("tabindex");
  drew();
};

// As soon as the rest of the panel is up to date, and once in a frame at most: of drawings that come
// faster than they can be drawn, the last one counts.
const drawSoon = (element, part, drew) => {
  element.drawing = part.drawing;
  if (element.waiting || !element.plotly) return;
  element.waiting = true;
  element.setAttribute("aria-busy", "true");
  queueMicrotask(async () => {
    const { drawing } = element;
    try {
      await draw(element, drew);
    } finally {
      requestAnimationFrame(() => {
        element.waiting = false;
        if (element.drawing === drawing) element.setAttribute("aria-busy", "false");
        else drawSoon(element, element, drew);
      });
    }
  });
};

const pictured = {
  make({ model, drew }) {
    const [message, figure] = [make("p", {}, LOADING), make("div")];
    const element = make("div", { class: "kiplab-picture" }, message, figure);
    Object.assign(element, { figure, prepare: (drawing) => prepare(element, drawing) });
    plotlyOf(model).then((plotly) => {
      message.remove();
      element.plotly = plotly;
      drawSoon(element, { drawing: element.drawing }, drew);
    }).catch((problem) => {
      message.textContent = FAILED;
      console.error(problem);
    });
    return element;
  },
  paint(element, part, changed, { drew }) {
    if (changed.has("drawing")) drawSoon(element, part, drew);
  },
  end({ plotly, figure, spare }) { [figure, spare].forEach((each) => each && plotly?.purge(each)); },
};

KINDS.picture = pictured;
