// The marks of a picture, and the lines that are drawn around them. The picture's meta says what each
// mark is about: "6.2" is the second event of step 6, "6" all of step 6, "b6.2" an event of the second
// run. Words say the same of themselves, in data-about.
const ARROW_NEAR = 8; // pixels from an arrow that still are the arrow
const SIGN = 26; // pixels from a box to the far side of the arrow's head and its shield
const HALO_GAP = 3; // pixels from a mark to the line around it
const SVG = "http://www.w3.org/2000/svg";

const idsOf = (text) => text.split(" ").filter(Boolean);
const stepOf = (id) => Number(id.split(".")[0].replace(/^\D/, ""));
// Whoever means a whole step means every event of it, in every run.
const everyRun = (id) => (/^\d+$/.test(id) ? [id, `b${id}`, `c${id}`, `d${id}`] : [id]);
const covers = (ids, id) => ids.has(id) || ids.has(id.split(".")[0]);

const readMark = ([about, x0, y0, x1, y1, kind]) => ({
  ids: idsOf(about), x0, y0, x1, y1,
  slanted: kind === true || kind === "hidden", isHidden: kind === "hidden",
  isHarm: kind === "harm", isStep: !about.includes("."),
});

const middle = ({ x0, x1 }) => (x0 + x1) / 2;

// Pixels from the number of a step to that of the next one.
const unitOf = (marks) => {
  const row = marks.filter((mark) => mark.isStep).map(middle);
  return Math.min(...row.slice(1).map((x, n) => x - row[n]).filter((gap) => gap > 0));
};

// The marks as far as a step has brought them: their ends stay hidden until they happen.
const marksUntil = (marks, step) => {
  const past = marks.filter((mark) => mark.ids.some((id) => stepOf(id) <= step));
  const here = marks.filter((mark) => mark.isStep && mark.ids.some((id) => stepOf(id) === step));
  const edges = here.map((mark) => middle(mark) + unitOf(marks)).filter(Number.isFinite);
  return past.map((mark) => {
    const edge = edges.sort((a, b) => a - b).find((x) => x > mark.x0);
    if (mark.isStep || edge === undefined || mark.x1 <= edge) return mark;
    const share = (edge - mark.x0) / (mark.x1 - mark.x0);
    const y1 = mark.slanted ? mark.y0 + share * (mark.y1 - mark.y0) : mark.y1;
    return { ...mark, x1: edge, y1 };
  });
};

// --- which one -------------------------------------------------------------------------------------

const awayFrom = ({ x0, y0, x1, y1 }, x, y) => {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const along = ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1);
  const share = Math.max(0, Math.min(1, along));
  return Math.hypot(x0 + share * dx - x, y0 + share * dy - y);
};

const sizeOf = ({ x0, y0, x1, y1 }) => (x1 - x0) * (y1 - y0);
const holds = ({ x0, y0, x1, y1 }, x, y) => x0 <= x && x <= x1 && y0 <= y && y <= y1;

// An arrow that is near, or else the smallest mark that is there.
const markAt = (marks, x, y) => {
  const arrows = marks.filter((m) => m.slanted && !m.isHidden && awayFrom(m, x, y) <= ARROW_NEAR);
  if (arrows.length) return arrows.sort((a, b) => awayFrom(a, x, y) - awayFrom(b, x, y))[0];
  const there = marks.filter((mark) => !mark.slanted && holds(mark, x, y));
  return there.sort((a, b) => sizeOf(a) - sizeOf(b))[0];
};

// What has no mark of its own is found by the number of its step.
const marksAbout = (marks, ids) => {
  const own = marks.filter((mark) => !mark.isStep && mark.ids.some((id) => covers(ids, id)));
  const whole = new Set(own);
  for (const id of ids) {
    const alone = new Set([id]);
    if (own.some((mark) => mark.ids.some((other) => covers(alone, other)))) continue;
    const step = String(stepOf(id));
    marks.filter((mark) => mark.isStep && mark.ids.includes(step)).forEach((mark) => whole.add(mark));
  }
  return whole;
};

// --- drawing ---------------------------------------------------------------------------------------

const furnish = (element, attributes, inside) => {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...inside);
  return element;
};

const make = (name, attributes = {}, ...inside) =>
  furnish(document.createElement(name), attributes, inside);

const svgPart = (name, attributes, ...inside) =>
  furnish(document.createElementNS(SVG, name), attributes, inside);

// An arrow as a flat box, turned.
const boxAround = ({ x0, y0, x1, y1, slanted }) => {
  const [wide, high] = slanted ? [Math.hypot(x1 - x0, y1 - y0), 0] : [x1 - x0, y1 - y0];
  const turn = slanted ? (Math.atan2(y1 - y0, x1 - x0) * 180) / Math.PI : 0;
  const gap = slanted ? 2 * HALO_GAP : HALO_GAP;
  return {
    x: -gap, y: -gap, width: wide + 2 * gap, height: high + 2 * gap, rx: gap,
    transform: `translate(${x0} ${y0}) rotate(${turn})`,
  };
};

// Hover cards of plotly's leave the boxes free that say why something was refused.
const answering = new WeakSet();
const clearBoxes = (plot) => {
  if (!plot?.on || answering.has(plot)) return;
  answering.add(plot);
  plot.on("plotly_hover", () => {
    const isBox = ({ dataset }) => plot.layout.shapes[dataset.index]?.name?.startsWith("callout");
    const boxes = [...plot.querySelectorAll(".shapelayer path")].filter(isBox);
    const sheet = plot.querySelector(".main-svg").getBoundingClientRect();
    for (const card of plot.querySelectorAll(".hoverlayer .hovertext")) {
      const at = card.getBoundingClientRect();
      const box = boxes.map((each) => each.getBoundingClientRect()).find(({ left, top, right, bottom }) =>
        left - SIGN < at.right && at.left < right && top - SIGN < at.bottom && at.top < bottom);
      if (!box) continue;
      const toLeft = box.left - SIGN - at.right;
      const shift = at.left + toLeft > sheet.left ? toLeft : box.right - at.left;
      const by = (shift * plot.layout.width) / sheet.width;
      card.setAttribute("transform", `translate(${by} 0) ${card.getAttribute("transform")}`);
    }
  });
};

// A message that is marked only where it arrives gets its arrow.
const outline = (mark, kind) => {
  const box = boxAround(mark);
  const d = `M0 0H${box.width - 4 * HALO_GAP}m-8-5 8 5-8 5`;
  const part = (name) => svgPart(mark.isHidden ? "path" : "rect", { ...box, d, class: name });
  return svgPart("g", { class: kind }, part("kiplab-halo-edge"), part("kiplab-halo"));
};

// A step's column, as high as what happens above its number.
const columnOf = (marks, mark) => {
  const top = Math.min(...marks.filter((other) => !other.isStep).map((other) => other.y0));
  const box = { x: middle(mark), y: top, width: unitOf(marks), height: mark.y0 - top };
  const isBox = Number.isFinite(box.width) && box.height > 0;
  return isBox ? [svgPart("rect", { ...box, class: "kiplab-halo-column" })] : [];
};

// Over a picture: `shown()` is its element, its `marks`, `width` and `height`, or null while there is
// none; `at()` the step that it shows.
const haloLayer = (shown, at) => {
  const layer = svgPart("svg", { class: "kiplab-halos", "aria-hidden": "true" });
  const marks = () => marksUntil((shown()?.marks ?? []).map(readMark), at());

  const put = ({ element, width, height }) => {
    if (layer.parentElement !== element) element.append(layer);
    furnish(layer, { width, height, viewBox: `0 0 ${width} ${height}` }, []);
  };

  // An empty layer would keep its size when the picture gets another one.
  const tidy = () => { if (!layer.hasChildNodes()) layer.remove(); };

  return {
    has(target) { return Boolean(shown()?.element.contains(target)); },
    // `lit` and `matches` are sets of ids.
    paint(lit, matches) {
      const target = shown();
      if (!target) return;
      put(target);
      const past = marks();
      const [chosen, others] = [marksAbout(past, lit), marksAbout(past, matches)];
      const steps = new Set([...lit].map(stepOf));
      const isHere = (mark) => mark.isStep && mark.ids.some((id) => steps.has(stepOf(id)));
      layer.replaceChildren(
        ...past.filter(isHere).flatMap((mark) => columnOf(past, mark)),
        ...[...others].filter((mark) => !chosen.has(mark)).map((m) => outline(m, "kiplab-halo-found")),
        ...[...chosen].map((mark) => outline(mark, "kiplab-halo-lit")),
      );
      tidy();
    },
    // Harm that begins at this step catches the eye, unless less motion is asked for.
    flash() {
      const target = shown();
      const harm = target && marks().find((m) => m.isHarm && m.ids.some((id) => stepOf(id) === at()));
      if (!harm || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
      put(target);
      const part = svgPart("rect", { ...boxAround(harm), class: "kiplab-flash" });
      part.addEventListener("animationend", () => {
        part.remove();
        tidy();
      });
      layer.append(part);
    },
    // The ids of the mark at a place of the window, as far as it has happened.
    idsAt(x, y) {
      put(shown());
      const { left, top, width } = layer.getBoundingClientRect();
      const scale = shown().width / width;
      tidy();
      const nearest = markAt(marks(), (x - left) * scale, (y - top) * scale);
      return nearest?.ids.filter((id) => stepOf(id) <= at());
    },
    end() { layer.remove(); },
  };
};
