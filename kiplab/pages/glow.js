// Lights up a mark in a picture together with the words about it, and searches the words. All of it
// runs in the page, without a kernel.
const linesIn = (box) => [...box.querySelectorAll("[data-about]")];

// Only the box that words are in scrolls; the page does where they are in none, and only for
// somebody who has asked to go there.
const showLine = (line, byRequest = false) => {
  const box = line.closest("[data-told]");
  if (!box || box.scrollHeight <= box.clientHeight) {
    if (byRequest) line.scrollIntoView({ block: "nearest" });
    return;
  }
  const [inside, around] = [line.getBoundingClientRect(), box.getBoundingClientRect()];
  if (inside.top < around.top) box.scrollTop += inside.top - around.top - 4;
  if (inside.bottom > around.bottom) box.scrollTop += inside.bottom - around.bottom + 4;
};

// One stop for Tab, as many lines as there are for the arrow keys.
const walkLines = (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const box = event.target.closest("[data-told]");
  if (!by || !box || (event.target !== box && !event.target.dataset.about)) return;
  event.preventDefault();
  const lines = linesIn(box);
  const place = lines.indexOf(event.target);
  const next = place < 0 ? lines.at(by > 0 ? 0 : -1) : lines[place + by];
  if (!next) return;
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
  showLine(next, true);
};

// `root` holds words and picture. Of what surrounds it: `picture()` and `at()` are as for haloLayer,
// `reached()` and `run()` as for searchOf, and `go` leads to a step.
const lightUp = (root, { picture, at, reached, run, go }) => {
  const lit = { words: null, picture: null, focus: null, pinned: null };
  const halos = haloLayer(picture, at);
  const searched = () => linesIn(root).filter((line) => line.closest("[data-finds]"));
  const search = searchOf({ lines: searched, reached, run });

  const paint = () => {
    const ids = lit.words ?? lit.picture ?? lit.focus ?? lit.pinned ?? new Set();
    for (const line of linesIn(root)) {
      const about = idsOf(line.dataset.about);
      line.classList.toggle("kiplab-lit", about.some((id) => covers(ids, id)));
      line.classList.toggle("kiplab-found", search.has(line));
      line.classList.toggle("kiplab-current", search.current?.line === line);
    }
    halos.paint(ids, new Set(search.ids));
  };

  const light = (from, ids) => {
    const before = lit[from];
    lit[from] = ids?.length ? new Set(ids.flatMap(everyRun)) : null;
    dark = false;
    if (String([...(before ?? [])]) === String([...(lit[from] ?? [])])) return;
    paint();
    if (from !== "picture" || !lit.picture) return;
    for (const box of root.querySelectorAll("[data-told]")) {
      const line = box.querySelector(".kiplab-lit");
      if (line) showLine(line);
    }
  };

  // A match is shown with its line: the step may have to be reached first.
  let awaited = false;
  let dark = true;
  let [seenAt, seenRun] = [at(), run()];

  // What was pinned was about the step before; only a search leads to the next one.
  const follow = () => {
    if (at() === seenAt && run() === seenRun) return;
    if (!awaited) lit.pinned = null;
    if (at() > seenAt) halos.flash();
    [seenAt, seenRun] = [at(), run()];
  };

  // Where nothing is lit nor looked for, a step costs nothing more.
  const renew = () => {
    follow();
    const wasDark = dark;
    dark = !search.isOn && !Object.values(lit).some(Boolean);
    if (dark && wasDark) return;
    search.takeIn();
    for (const output of root.querySelectorAll(".kiplab-finder output")) {
      if (output.textContent !== search.count) output.textContent = search.count;
    }
    paint();
    if (!awaited || !search.current?.line) return;
    showLine(search.current.line, true);
    awaited = stepOf(search.current.ids[0]) !== at();
  };

  const goOn = (by) => {
    const match = search.next(by);
    if (!match) return;
    lit.pinned = new Set(match.ids.flatMap(everyRun));
    const step = stepOf(match.ids[0]);
    awaited = true;
    if (step !== at()) go(step);
    renew();
  };

  const inField = (event) => {
    const { key, target } = event;
    if (key === "Enter") goOn(event.shiftKey ? -1 : 1);
    else if (key === "Escape" && target.value) {
      target.value = "";
      lit.pinned = null;
      search.setWords("");
      renew();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const lineOf = ({ target }) => target.closest?.("[data-about]")?.dataset.about.split(" ");
  const inPicture = ({ target, clientX, clientY }) =>
    halos.has(target) ? halos.idsAt(clientX, clientY) ?? [] : null;

  // What is chosen by keyboard in a picture that can be touched.
  const chosenIn = (places) => {
    const box = places.querySelector('[aria-selected="true"]');
    const [, step] = box?.dataset.thing.match(/^step (\d+)$/) ?? [];
    if (step || !box?.dataset.thing.startsWith("message ")) return step && [step];
    const { left, top, width, height } = box.getBoundingClientRect();
    return halos.idsAt(left + width / 2, top + height / 2);
  };

  const handlers = {
    pointerover(event) {
      clearBoxes(event.target.closest?.(".js-plotly-plot"));
      light("words", lineOf(event));
    },
    pointermove: (event) => light("picture", inPicture(event)),
    pointerleave() {
      light("words", null);
      light("picture", null);
    },
    focusin: (event) => light("focus", lineOf(event)),
    focusout: () => light("focus", null),
    click(event) {
      // A picture that can be touched answers with a menu.
      if (event.target.closest(".kiplab-touched")) return;
      const ids = inPicture(event) ?? lineOf(event);
      if (!ids || String(window.getSelection())) return;
      const again = ids.length && ids.every((id) => lit.pinned?.has(id));
      light("pinned", again ? null : ids);
    },
    input(event) {
      if (!event.target.closest(".kiplab-finder")) return;
      search.setWords(event.target.value);
      renew();
    },
    keydown(event) {
      if (event.target.closest(".kiplab-finder")) inField(event);
      else if (event.key === "Escape") light("pinned", null);
      else walkLines(event);
    },
    keyup(event) {
      if (event.target.matches(".kiplab-places")) light("focus", chosenIn(event.target));
    },
  };

  for (const [name, hear] of Object.entries(handlers)) root.addEventListener(name, hear);
  return {
    renew,
    end() {
      for (const [name, hear] of Object.entries(handlers)) root.removeEventListener(name, hear);
      halos.end();
    },
  };
};
