// Rules are switched and messages dropped in the page: the engine beside it runs the play anew, and
// the picture takes the new run. Nothing of the engine is loaded before somebody wants to try.
const tryIt = (panel) => {
  const recorded = document.getElementById("kiplab-recorded").textContent;
  const { engine, size } = JSON.parse(recorded);
  const plot = document.getElementById("kiplab-plot");
  const button = panel.querySelector("button");
  const help = panel.querySelector(".kiplab-try p");
  const bar = panel.querySelector("progress");
  const outcome = panel.querySelector("[role=status]");
  const choices = panel.querySelector(".kiplab-choices");
  const change = { switches: {}, dropped: [] };
  let worker = null;
  let count = 0;
  let asRecorded = null;

  const fallBack = (why) => {
    worker?.terminate();
    panel.ariaBusy = "false";
    for (const part of [button, help, bar, choices]) part.hidden = true;
    outcome.textContent = `The page shows the recorded run only: ${why}.`;
  };

  // A button that is switched off loses the focus.
  const able = (is) => { button.ariaDisabled = String(!is); };

  const ask = () => {
    count += 1;
    panel.ariaBusy = "true";
    worker.postMessage({ number: count, recorded, change });
  };

  // --- what can be changed ----------------------------------------------------------------------

  const switchRule = (id, on) => {
    const was = asRecorded.rules.find((rule) => rule.key === id).on;
    if (on === was) delete change.switches[id];
    else change.switches[id] = on;
  };

  const sendMessage = (line, on) => {
    change.dropped = change.dropped.filter((dropped) => dropped !== line);
    if (!on) change.dropped.push(line);
  };

  const boxOf = ({ key, words, note, on }, set) => {
    const input = make("input", { type: "checkbox", value: key });
    input.checked = on;
    input.addEventListener("change", () => {
      set(key, input.checked);
      ask();
    });
    return make("label", {}, input, make("span", {}, `${words}\u2002`, make("small", {}, note)));
  };

  // Made anew for every run; what has the focus keeps it.
  const list = (fieldset, all, set) => {
    fieldset.hidden = all.length === 0;
    const { scrollTop } = fieldset.lastElementChild;
    const focus = fieldset.contains(document.activeElement) && document.activeElement.value;
    const groups = Map.groupBy?.(all, ({ group }) => group) ?? new Map([["", all]]);
    const parts = [...groups].flatMap(([group, members]) => [
      make("h3", {}, group), ...members.map((each) => boxOf(each, set)),
    ]);
    fieldset.lastElementChild.replaceChildren(...parts);
    fieldset.lastElementChild.scrollTop = scrollTop;
    const boxes = [...fieldset.querySelectorAll("input")];
    boxes.find((box) => box.value === focus)?.focus({ preventScroll: true });
  };

  // --- the run that follows ---------------------------------------------------------------------

  const replaceWords = ({ label, caption, sections }) => {
    const fresh = make("template", {});
    fresh.innerHTML = sections;
    const [, ...shown] = document.querySelectorAll("main > section");
    [...fresh.content.children].forEach((section, n) => shown[n].replaceWith(section));
    plot.closest(".kiplab-scroll").ariaLabel = label;
    document.querySelector(".kiplab-figure figcaption").innerHTML = caption;
  };

  const tell = ({ verdict, title }) => {
    const { length } = change.dropped;
    const isChanged = length > 0 || Object.keys(change.switches).length > 0;
    const lost = length > 0 ? `, ${length} message${length > 1 ? "s" : ""} dropped` : "";
    const parts = isChanged
      ? [make("strong", {}, `Now: ${verdict}`), ` (${title}${lost}). As recorded: ${asRecorded.verdict}.`]
      : [make("strong", {}, `As recorded: ${verdict}`), ` (${title}).`];
    outcome.replaceChildren(...parts);
    able(isChanged);
  };

  const show = (answer) => {
    if (answer.problem) {
      outcome.textContent = `There is no such run: ${answer.problem}.`;
      return;
    }
    asRecorded ??= answer;
    replaceWords(answer);
    plot.kiplab.take(answer.picture);
    list(choices.children[0], answer.rules, switchRule);
    list(choices.children[1], answer.messages, sendMessage);
    tell(answer);
  };

  const ready = (answer) => {
    const hadFocus = document.activeElement === button;
    bar.hidden = true;
    choices.hidden = false;
    button.textContent = "As recorded";
    help.textContent = "A ticked rule acts, and a message that is not ticked is dropped.";
    show(answer);
    if (hadFocus) choices.querySelector("input")?.focus({ preventScroll: true });
  };

  const hear = ({ data: { loaded, starting, problem, number, answer } }) => {
    if (problem) fallBack(problem);
    if (loaded) bar.value = loaded;
    if (starting) {
      bar.removeAttribute("value");
      outcome.textContent = "Starting the engine.";
    }
    if (!answer || number !== count) return;
    panel.ariaBusy = "false";
    if (asRecorded) show(answer);
    else ready(answer);
  };

  const begin = () => {
    able(false);
    [bar.hidden, bar.max, bar.value] = [false, size, 0];
    outcome.textContent = "Loading the engine.";
    worker = new Worker(new URL(`${engine}/engine.js`, document.baseURI), { type: "module" });
    worker.onmessage = hear;
    worker.onerror = () => fallBack(`${engine}/engine.js beside it cannot be loaded`);
    ask();
  };

  button.addEventListener("click", () => {
    if (button.ariaDisabled === "true") return;
    if (asRecorded) {
      Object.assign(change, { switches: {}, dropped: [] });
      ask();
    } else if (location.protocol === "file:") {
      fallBack("the engine needs a web server, and this page was opened as a file");
    } else if (!window.WebAssembly || !window.DecompressionStream) {
      fallBack("this browser has no WebAssembly, or cannot unpack files");
    } else begin();
  });
  panel.hidden = !plot.kiplab;
};

tryIt(document.getElementById("kiplab-live"));
