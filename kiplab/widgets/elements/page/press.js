// What is pressed stays where it is until it is let go. An answer that came meanwhile and moved it
// would take it away from under the pointer: the browser would see the pointer let go of something
// else, and nothing would be pressed.
const PRESSED = "button, label, summary, [role=menuitem], [type=checkbox], [type=radio], .kiplab-touched";
// That a pointer was let go outside of the window is seen when it comes back.
const ENDS = ["pointerup", "pointercancel", "pointermove", "blur"];

// Returns what calls a function at once, or, while something in `el` is pressed, in its turn when that
// is let go; its `end` stops listening.
const holdStill = (el) => {
  let waiting = null;
  const letGo = () => {
    const calls = waiting ?? [];
    waiting = null;
    calls.forEach((call) => call());
  };
  const press = ({ button, isPrimary, target }) => {
    if (!button && isPrimary && target.closest(PRESSED)) waiting ??= [];
  };
  // The click that follows is heard first.
  const release = ({ type, buttons, target }) => {
    const goesOn = type === "pointermove" ? buttons : type === "blur" && target !== window;
    if (waiting && !goesOn) setTimeout(letGo);
  };
  el.addEventListener("pointerdown", press, true);
  for (const name of ENDS) window.addEventListener(name, release, true);
  const whenLetGo = (call) => {
    if (waiting) waiting.push(call);
    else call();
  };
  whenLetGo.end = () => {
    el.removeEventListener("pointerdown", press, true);
    for (const name of ENDS) window.removeEventListener(name, release, true);
  };
  return whenLetGo;
};

// Keeps what was pressed last where it was pressed, whatever becomes of what is above it: who presses
// again need not look for it. Returns what is called after a change of sizes, with the box that
// scrolls. Whoever scrolls, or presses elsewhere, wants something else.
const keepInPlace = (el) => {
  let pressed = null;
  let ours;
  const note = ({ target }) => {
    const element = el.contains(target) ? target.closest(PRESSED) : null;
    pressed = element && { element, top: element.getBoundingClientRect().top };
  };
  const scrolled = ({ target }) => {
    if (target.contains(el) && (target.scrollingElement ?? target).scrollTop !== ours) pressed = null;
  };
  const forget = () => { pressed = null; };
  const handlers = { pointerdown: note, keydown: note, scroll: scrolled, resize: forget };
  for (const [name, hear] of Object.entries(handlers)) window.addEventListener(name, hear, true);
  const keep = (scroller) => {
    if (!pressed?.element.isConnected) return;
    const by = pressed.element.getBoundingClientRect().top - pressed.top;
    if (Math.abs(by) < 1) return;
    scroller.scrollTop += by;
    ours = scroller.scrollTop;
  };
  keep.end = () => {
    for (const [name, hear] of Object.entries(handlers)) window.removeEventListener(name, hear, true);
  };
  return keep;
};
