// A picture at whose things one can point: what lies under the pointer, or is chosen by keyboard, is
// told to the kernel, which answers with a menu.
const REACH = 9;
const HOW = "parts of the picture: arrow keys choose one, Enter opens what can be done with it";

const closestOf = (things, distance) => things
  .map((each) => [distance(each), each])
  .sort(([one], [other]) => one - other)[0];

// An arrow before the lane that it crosses; nothing in the margins between.
const thingAt = ({ lanes, arrows, steps, axis }, x, y) => {
  const away = ([, x0, y0, x1, y1]) => awayFrom({ x0, y0, x1, y1 }, x, y);
  const [far, arrow] = closestOf(arrows, away) ?? [Infinity];
  if (far <= REACH) return arrow[0];
  if (axis[0] <= y && y <= axis[1]) {
    const [, step] = closestOf(steps, ([, px]) => Math.abs(px - x)) ?? [];
    return step && `step ${step[0]}`;
  }
  return lanes.find(([, top, bottom]) => top <= y && y <= bottom)?.[0];
};

// Each thing as a box: left, top, width, height, turned by an angle.
const boxesOf = ({ lanes, arrows, steps, axis }, width) => {
  const unit = steps.length > 1 ? steps[1][1] - steps[0][1] : REACH * 2;
  return [
    ...lanes.map(([thing, top, bottom]) => [thing, 0, top, width, bottom - top, 0]),
    ...arrows.map(([thing, x0, y0, x1, y1]) => {
      const [long, turn] = [Math.hypot(x1 - x0, y1 - y0), Math.atan2(y1 - y0, x1 - x0)];
      return [thing, (x0 + x1 - long) / 2, (y0 + y1) / 2 - REACH, long, REACH * 2, turn];
    }),
    ...steps.map(([step, px]) => [
      `step ${step}`, px - unit / 2, axis[0], unit, axis[1] - axis[0], 0,
    ]),
  ];
};

const layOut = (element, { meta, width, height }, name) => {
  const { overlay } = element;
  element.places = meta.places;
  overlay.style.width = `${width}px`;
  overlay.style.height = `${height}px`;
  const boxes = boxesOf(meta.places, width).map(([thing, left, top, wide, high, turn], number) => {
    const about = { role: "option", "aria-label": thing, "data-thing": thing };
    const box = make("div", { ...about, id: `${name}-${number}` });
    Object.assign(box.style, {
      left: `${left}px`, top: `${top}px`, width: `${wide}px`, height: `${high}px`,
      transform: turn ? `rotate(${turn}rad)` : "",
    });
    return box;
  });
  overlay.replaceChildren(...boxes);
  mark(element, element.chosen);
};

const boxOf = (element, thing) =>
  [...element.overlay.children].find((box) => box.dataset.thing === thing);

const mark = (element, thing) => {
  const target = boxOf(element, thing);
  element.chosen = target && thing;
  for (const box of element.overlay.children) box.setAttribute("aria-selected", String(box === target));
  if (target) element.overlay.setAttribute("aria-activedescendant", target.id);
  else element.overlay.removeAttribute("aria-activedescendant");
  return target;
};

// Up and down from lane to lane, the axis last; left and right among the arrows of a lane, and along
// the axis from step to step, beginning where one stands.
const rowsOf = ({ lanes, arrows, steps }) => [
  ...lanes.map(([thing, top, bottom]) => {
    const ends = ([, , y0, , y1]) => [y0, y1].some((y) => top - 3 <= y && y <= bottom + 3);
    const own = arrows.filter(ends).sort((one, other) => one[1] - other[1]);
    return [thing, ...own.map(([arrow]) => arrow)];
  }),
  steps.map(([step]) => `step ${step}`),
];

// An arrow belongs to the lanes of both its ends: the one where one came from counts.
const whereIn = (rows, { row, chosen }) => {
  const own = rows[row]?.includes(chosen);
  const at = own ? row : Math.max(rows.findIndex((things) => things.includes(chosen)), 0);
  return [at, Math.max(rows[at].indexOf(chosen), 0)];
};

const clamp = (n, last) => Math.min(Math.max(n, 0), last);

const STRIDES = {
  ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1],
  Home: [0, -Infinity], End: [0, Infinity],
};

const stride = (element, [down, right]) => {
  const rows = rowsOf(element.places);
  const [row, column] = whereIn(rows, element);
  const to = clamp(row + down, rows.length - 1);
  const begin = to === rows.length - 1 ? element.places.here : 0;
  const start = to === row ? column : begin;
  element.row = to;
  mark(element, rows[to][clamp(start + right, rows[to].length - 1)])?.scrollIntoView({
    block: "nearest", inline: "nearest",
  });
};

const middleOf = (element, thing) => {
  const box = boxOf(element, thing).getBoundingClientRect();
  const here = element.places.steps[element.places.here]?.[1] ?? 0;
  const whole = box.width >= element.overlay.offsetWidth;
  const x = whole ? element.overlay.getBoundingClientRect().left + here : box.left + box.width / 2;
  return { x, y: box.top + box.height / 2 };
};

KINDS.touched = {
  make(tools) {
    const element = pictured.make(tools);
    const list = { role: "listbox", "aria-label": HOW, tabindex: 0 };
    const overlay = make("div", { class: "kiplab-places", ...list });
    element.overlay = overlay;
    element.classList.add("kiplab-touched");
    element.append(overlay);
    const ask = (thing, at, byKey) => {
      mark(element, thing);
      element.parentElement.call = { ...at, back: overlay, byKey };
      tools.act("touch", thing);
    };
    const under = ({ clientX, clientY }) => {
      const { left, top } = overlay.getBoundingClientRect();
      return thingAt(element.places, clientX - left, clientY - top);
    };
    element.addEventListener("click", (event) => {
      const thing = under(event);
      if (thing) ask(thing, { x: event.clientX, y: event.clientY }, false);
    });
    element.addEventListener("pointermove", (event) => {
      element.classList.toggle("kiplab-pointable", Boolean(under(event)));
    });
    overlay.addEventListener("focus", () => mark(element, element.chosen ?? element.places.lanes[0]?.[0]));
    overlay.addEventListener("keydown", (event) => {
      const menu = ["Enter", " ", "ContextMenu"].includes(event.key) || (event.shiftKey && event.key === "F10");
      if (STRIDES[event.key]) stride(element, STRIDES[event.key]);
      else if (menu && element.chosen) ask(element.chosen, middleOf(element, element.chosen), true);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    // The key that opens menus would open the browser's, or the notebook's, as well.
    overlay.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      event.stopPropagation();
    });
    return element;
  },
  paint(element, part, changed, tools) {
    pictured.paint(element, part, changed, tools);
    if (changed.has("drawing")) layOut(element, part.drawing.layout, tools.name);
  },
  end: pictured.end,
};
