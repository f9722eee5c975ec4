// A list of things to do. What would follow from one is asked of the kernel while one points at it.
const POINTED = 80;
const GAP = 6;
const NOTHING_POINTED = "Point at a line to see what would follow.";

// What a row is about lights up in the picture.
const light = (from, thing) => {
  const surface = from.closest(".kiplab-surface");
  for (const place of surface?.querySelectorAll(".kiplab-places > *") ?? []) {
    place.classList.toggle("kiplab-meant", Boolean(thing) && place.dataset.thing === thing);
  }
};

const offerOf = ([words, line, thing], place) => make(
  "div",
  { class: "kiplab-offer", role: "menuitem", tabindex: -1, "data-place": place, "data-thing": thing },
  make("span", {}, words),
  make("code", { title: line }, line),
);

const sectionsOf = (sections) => {
  let place = 0;
  return sections.map(({ title, rows, notes }) => make(
    "div", { role: "group", "aria-label": title },
    make("div", { class: "kiplab-offers-title", "aria-hidden": "true" }, title),
    ...rows.map((row) => offerOf(row, place++)),
    ...notes.map((text) => make("div", { class: "kiplab-offers-note" }, text)),
  ));
};

const offersIn = (element) => [...element.list.querySelectorAll(".kiplab-offer")];

// Only one row is reached by Tab: the one where one was.
const rove = (element, row) => {
  for (const other of offersIn(element)) other.tabIndex = other === row ? 0 : -1;
};

const say = (element) => {
  const { number, place, consequences } = element.foreseen ?? {};
  const is = number === element.number && place === element.pointed;
  const nothing = element.pointed === undefined ? [NOTHING_POINTED] : [];
  const sentences = is ? consequences : nothing;
  element.outlook.replaceChildren(...sentences.map((sentence) => make("div", {}, sentence)));
};

const point = (element, row, act) => {
  const place = row ? Number(row.dataset.place) : undefined;
  if (place === element.pointed) return;
  element.pointed = place;
  clearTimeout(element.timer);
  offersIn(element).forEach((other) => other.classList.toggle("kiplab-pointed", other === row));
  light(element, row?.dataset.thing);
  say(element);
  if (!row) return;
  const choice = [element.number, place];
  element.timer = setTimeout(() => act("foresee", choice, { latest: true }), POINTED);
};

const shut = (element) => {
  if (element.hidden) return;
  const inside = element.contains(document.activeElement);
  element.hidden = true;
  light(element, null);
  if (inside) element.back?.focus({ preventScroll: true });
};

// What scrolls a panel, and from where to where it is seen below what stays on top of it.
const viewOf = (element, staying) => {
  const surface = element.closest(".kiplab-surface");
  const [, scroller] = around(surface);
  const { top, bottom } = scroller === document.documentElement
    ? { top: 0, bottom: innerHeight } : scroller.getBoundingClientRect();
  return { scroller, top: Math.max(top, staying(surface, top)), bottom: Math.min(bottom, innerHeight) };
};
const headOf = (surface, top) =>
  surface.querySelector(".kiplab-head")?.getBoundingClientRect().bottom ?? top;
const stageOf = (surface, top) =>
  top + (parseFloat(surface.style.getPropertyValue("--kiplab-stage")) || 0);

// A row that gets the focus is scrolled into the list's view, and with the list into the page's.
const bring = (element, row) => {
  const { list, outlook } = element;
  row.focus({ preventScroll: true });
  const start = row.offsetTop - row.parentElement.firstChild.offsetHeight;
  list.scrollTop = Math.min(list.scrollTop, start);
  list.scrollTop = Math.max(list.scrollTop, row.offsetTop + row.offsetHeight - list.clientHeight);
  if (element.pops) return;
  const { scroller, top, bottom } = viewOf(element, stageOf);
  const box = row.getBoundingClientRect();
  const [over, under] = [top + GAP - box.top, box.bottom + outlook.offsetHeight + GAP - bottom];
  scroller.scrollTop += over > 0 ? -over : Math.max(under, 0);
};

// Beside what was clicked, within what can be seen of the panel's boxes and the window.
const settleAt = (element, { x, y }) => {
  const outer = element.parentElement.getBoundingClientRect();
  const view = viewOf(element, headOf);
  const [top, bottom] = [view.top, view.bottom - GAP];
  element.style.maxHeight = `${bottom - top - GAP}px`;
  const { offsetWidth: wide, offsetHeight: high } = element;
  const left = Math.min(Math.max(x + GAP, outer.left), outer.right - wide);
  const start = Math.max(Math.min(y + GAP, bottom - high), top + GAP);
  element.style.left = `${left - outer.left}px`;
  element.style.top = `${start - outer.top}px`;
};

// The page that asked for it opens it, and no other view of the same panel.
const pop = (element) => {
  const call = element.parentElement?.call;
  if (!call) return;
  element.parentElement.call = null;
  element.hidden = false;
  element.back = call.back;
  settleAt(element, call);
  const [first] = offersIn(element);
  (call.byKey && first ? first : element.list).focus({ preventScroll: true });
};

const summon = (element, part) => {
  if (part.pops) pop(element);
  else if (offersIn(element).length) bring(element, offersIn(element)[0]);
};

const MOVES = {
  ArrowDown: (at, last) => (at < last ? at + 1 : 0),
  ArrowUp: (at, last) => (at > 0 ? at - 1 : last),
  Home: () => 0,
  End: (_, last) => last,
};

KINDS.choices = {
  make({ act }) {
    const menu = { class: "kiplab-offers-list", role: "menu", "aria-label": "what can happen" };
    const list = make("div", { ...menu, tabindex: -1 });
    const outlook = make("div", { class: "kiplab-foreseen", role: "status" });
    const element = make("div", { class: "kiplab-offers" }, list, outlook);
    Object.assign(element, { list, outlook });
    const rowAt = (event) => event.target.closest(".kiplab-offer");
    const choose = (row) => {
      if (!row) return;
      if (element.pops) shut(element);
      act("choose", [element.number, Number(row.dataset.place)]);
    };
    list.addEventListener("pointerover", (event) => point(element, rowAt(event), act));
    list.addEventListener("pointerleave", () => point(element, rowAt({ target: document.activeElement }), act));
    list.addEventListener("focusin", (event) => {
      const row = rowAt(event);
      if (row) rove(element, row);
      point(element, row, act);
    });
    list.addEventListener("click", (event) => choose(rowAt(event)));
    element.addEventListener("focusout", ({ relatedTarget }) => {
      if (element.contains(relatedTarget)) return;
      point(element, null, act);
      if (element.pops) shut(element);
    });
    element.addEventListener("keydown", (event) => {
      const rows = offersIn(element);
      const at = rows.indexOf(rowAt(event));
      const move = MOVES[event.key];
      if (move && rows.length) bring(element, rows[move(at, rows.length - 1)]);
      else if (event.key === "Enter" || event.key === " ") choose(rows[at]);
      else if (element.pops && ["Escape", "Tab"].includes(event.key)) shut(element);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    return element;
  },
  paint(element, part, changed) {
    element.pops = part.pops;
    element.classList.toggle("kiplab-pops", part.pops);
    if (changed.has("pops")) element.hidden = part.pops;
    if (changed.has("offers")) {
      const before = element.contains(document.activeElement) ? document.activeElement : null;
      const [words, place] = [before?.textContent, before?.dataset.place];
      element.number = part.offers.number;
      element.pointed = undefined;
      element.list.replaceChildren(...sectionsOf(part.offers.sections));
      const rows = offersIn(element);
      const same = rows.find((row) => row.textContent === words) ?? rows[Math.min(place ?? 0, rows.length - 1)];
      if (!part.pops) rove(element, same);
      if (!part.pops && before) same?.focus({ preventScroll: true });
      if (part.pops && !part.offers.sections.length) shut(element);
    }
    element.foreseen = part.foreseen;
    say(element);
    const called = element.calls !== undefined && element.calls !== part.calls;
    element.calls = part.calls;
    // What is around it may be shown by the same patch.
    if (called) queueMicrotask(() => summon(element, part));
  },
  end(element) { clearTimeout(element.timer); },
};
