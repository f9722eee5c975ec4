// Rules are switched and messages dropped in the page: the engine beside it runs the play anew, and
// the picture takes the new run. Nothing of the engine is loaded before somebody wants to try.
const ENGINE = "kiplab-engine/engine.js";
const AS_FILE = "the engine needs a web server, and this page was opened as a file";
const TICKS = "A ticked rule acts, and a message that is not ticked is dropped.";

const tryIt = (panel) => {
  const run = JSON.parse(document.getElementById("kiplab-live-run").textContent);
  const plot = document.getElementById("kiplab-plot");
  const find = (selector) => panel.querySelector(selector);
  const [button, help, bar] = find(".kiplab-try").children;
  const [outcome, choices] = [find("[role=status]"), find(".kiplab-choices")];
  let worker = null;
  let count = 0;
  let recorded = null;

  const fallBack = (why) => {
    worker?.terminate();
    panel.ariaBusy = "false";
    for (const part of [button, help, bar, choices]) part.hidden = true;
    outcome.textContent = `The page shows the recorded run only: ${why}.`;
  };

  // A button that is switched off loses the focus.
  const able = (is) => { button.ariaDisabled = String(!is); };

  const ask = (change) => {
    Object.assign(run, change);
    count += 1;
    panel.ariaBusy = "true";
    worker.postMessage([count, JSON.stringify(run)]);
  };

  const switchRule = (id, on) => ask({ switches: { ...run.switches, [id]: on } });

  const sendMessage = (line, on) => {
    const others = run.dropped.filter((dropped) => dropped !== line);
    ask({ dropped: on ? others : [...others, line] });
  };

  const boxOf = ([key, , words, note, on], set) => {
    const input = make("input", { type: "checkbox", value: key });
    input.checked = on;
    input.addEventListener("change", () => set(key, input.checked));
    return make("label", {}, input, make("span", {}, `${words}\u2002`, make("small", {}, note)));
  };

  // Made anew for every run; what has the focus keeps it.
  const list = (fieldset, all, set) => {
    const box = fieldset.lastElementChild;
    const { scrollTop } = box;
    const focus = box.contains(document.activeElement) && document.activeElement.value;
    const isFirst = ([, group], n) => group !== all[n - 1]?.[1];
    box.replaceChildren(...all.flatMap((each, n) =>
      [...(isFirst(each, n) ? [make("h3", {}, each[1])] : []), boxOf(each, set)]));
    fieldset.hidden = all.length === 0;
    box.scrollTop = scrollTop;
    const inputs = [...box.querySelectorAll("input")];
    inputs.find(({ value }) => value === focus)?.focus({ preventScroll: true });
  };

  const tell = ({ verdict, title, rules }) => {
    const { length } = run.dropped;
    const lost = length > 0 ? `, ${length} message${length > 1 ? "s" : ""} dropped` : "";
    const isChanged = length > 0 || String(rules) !== String(recorded.rules);
    outcome.replaceChildren(
      make("strong", {}, `${isChanged ? "Now" : "As recorded"}: ${verdict}`), ` (${title}${lost}).`,
      isChanged ? ` As recorded: ${recorded.verdict}.` : "",
    );
    able(isChanged);
  };

  const show = (answer) => {
    const sections = new DOMParser().parseFromString(answer.sections, "text/html").body.children;
    const [, ...shown] = document.querySelectorAll("main > section");
    [...sections].forEach((section, n) => shown[n].replaceWith(section));
    plot.closest(".kiplab-scroll").ariaLabel = answer.label;
    document.querySelector(".kiplab-figure figcaption").innerHTML = answer.caption;
    plot.kiplab.take(answer.picture);
    list(choices.children[0], answer.rules, switchRule);
    list(choices.children[1], answer.messages, sendMessage);
    tell(answer);
  };

  const ready = (answer) => {
    const hadFocus = document.activeElement === button;
    recorded = answer;
    [bar.hidden, choices.hidden] = [true, false];
    [button.textContent, help.textContent] = ["As recorded", TICKS];
    show(answer);
    if (hadFocus) choices.querySelector("input")?.focus({ preventScroll: true });
  };

  const hear = ({ data: { loaded, starting, why, number, answer } }) => {
    if (why) fallBack(why);
    if (loaded) bar.value = loaded;
    if (starting) {
      bar.removeAttribute("value");
      outcome.textContent = "Starting the engine.";
    }
    if (!answer || number !== count) return;
    panel.ariaBusy = "false";
    if (answer.problem) outcome.textContent = `There is no such run: ${answer.problem}.`;
    else if (recorded) show(answer);
    else ready(answer);
  };

  const begin = () => {
    able(false);
    bar.hidden = false;
    outcome.textContent = "Loading the engine.";
    worker = new Worker(new URL(ENGINE, document.baseURI), { type: "module" });
    worker.onmessage = hear;
    worker.onerror = () => fallBack(`${ENGINE} beside it cannot be loaded`);
    ask({});
  };

  button.addEventListener("click", () => {
    if (button.ariaDisabled === "true") return;
    if (recorded) ask({ switches: {}, dropped: [] });
    else if (location.protocol === "file:") fallBack(AS_FILE);
    else begin();
  });
  panel.hidden = !plot.kiplab;
};

tryIt(document.getElementById("kiplab-live"));
