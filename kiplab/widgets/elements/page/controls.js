// One drawer of elements for each kind of part: `make` once, `paint` with what has changed.
// A control that was set here and not yet told to the kernel knows better than what comes from there.
const KINDS = {};

const set = (element, name, value) => {
  if (element[name] !== value) element[name] = value;
};

const buttonOf = (press) => {
  const element = make("button", { type: "button", class: "kiplab-button" });
  element.addEventListener("click", () => press(element));
  return element;
};

const paintButton = (element, part) => {
  set(element, "textContent", part.description);
  set(element, "disabled", part.disabled);
};

KINDS.button = {
  make({ act }) { return buttonOf((element) => act("press", element.dataset.kiplabLeads)); },
  paint(element, part) {
    paintButton(element, part);
    element.classList.toggle("kiplab-primary", part.button_style === "primary");
    if (part.leads) element.dataset.kiplabLeads = part.leads;
    else delete element.dataset.kiplabLeads;
  },
};

KINDS.toggle = {
  make({ act }) {
    return buttonOf((element) => {
      element.meant = !(element.matches(".kiplab-asked") ? element.meant : element.ariaPressed === "true");
      act("value", element.meant);
    });
  },
  paint(element, part) {
    paintButton(element, part);
    element.ariaPressed = String(part.value);
    element.setAttribute("aria-pressed", String(part.value));
    element.classList.toggle("mod-active", part.value);
  },
};

KINDS.words = {
  make() { return make("div", { class: "kiplab-words" }); },
  paint(element, part, changed) {
    if (changed.has("value")) element.innerHTML = part.value;
  },
};

// What the reader has unfolded, and where the focus is, stays when the words change.
KINDS.folding = {
  make() {
    const element = make("div", { class: "kiplab-words" });
    element.unfolded = new Map();
    return element;
  },
  paint(element, part, changed) {
    if (!changed.has("value")) return;
    const focused = element.contains(document.activeElement)
      ? document.activeElement.closest("details")?.dataset.path : undefined;
    element.innerHTML = part.value;
    for (const fold of element.querySelectorAll("details")) {
      const path = fold.dataset.path;
      if (element.unfolded.has(path)) fold.open = element.unfolded.get(path);
      if (path === focused) fold.querySelector("summary").focus();
      fold.addEventListener("toggle", () => element.unfolded.set(path, fold.open));
    }
  },
};

const labelled = (name, input) => {
  const words = make("label", { for: name });
  input.id = name;
  return Object.assign(make("span", { class: "kiplab-field" }, words, input), { words, input });
};

// The words stand behind what is ticked.
const ticking = (name, input) => {
  const element = labelled(name, input);
  element.classList.add("kiplab-tick");
  element.prepend(input);
  return element;
};

const paintField = (element, part) => {
  set(element.words, "textContent", part.description);
  element.words.hidden = !part.description;
  set(element.input, "disabled", part.disabled);
};

// An input that takes these traits of its part, and tells what became of it at that event.
const field = ({ type, event = "change", latest = false, traits = [], dressed = labelled, tag = "input" }) => {
  const isTick = type === "checkbox";
  const read = ({ checked, value }) => (isTick ? checked : type === "text" ? value : Number(value));
  return {
    make({ act, name }) {
      const input = make(tag, { type });
      input.addEventListener(event, () => act("value", read(input), { latest }));
      return dressed(name, input);
    },
    paint(element, part, changed) {
      paintField(element, part);
      for (const trait of traits) element.input[trait] = part[trait];
      if (!changed.has("value") && !changed.has("max")) return;
      set(element.input, isTick ? "checked" : "value", isTick ? part.value : String(part.value));
    },
  };
};

KINDS.area = field({ type: "text", tag: "textarea" });
KINDS.checkbox = field({ type: "checkbox", dressed: ticking });
KINDS.number = field({ type: "number", traits: ["min", "max"] });
KINDS.text = field({ type: "text", event: "input", traits: ["placeholder"] });
// Words are looked for in the page: the kernel hears nothing of it.
KINDS.finder = { make: finderField, paint() {} };

const ranged = field({ type: "range", event: "input", latest: true, traits: ["min", "max"] });

// The positions of a scale have words of their own.
KINDS.slider = {
  make(tools) {
    const element = ranged.make(tools);
    element.classList.add("kiplab-slider");
    element.append(make("output"));
    element.say = () => {
      const { input, labels, lastChild } = element;
      lastChild.textContent = labels ? labels[Number(input.value)] ?? "" : `${input.value} of ${input.max}`;
      if (labels) input.ariaValueText = lastChild.textContent;
    };
    element.input.addEventListener("input", element.say);
    return element;
  },
  paint(element, part, changed) {
    element.labels = part.words;
    element.classList.toggle("kiplab-scale", Boolean(part.words));
    ranged.paint(element, part, changed);
    element.say();
  },
};

KINDS.scale = KINDS.slider;

KINDS.dropdown = {
  make({ act, name }) {
    const input = make("select");
    input.addEventListener("change", () => act("value", input.selectedIndex));
    return labelled(name, input);
  },
  paint(element, part, changed) {
    paintField(element, part);
    if (changed.has("options")) {
      element.input.replaceChildren(...part.options.map((words) => new Option(words)));
    }
    if (changed.has("value") || changed.has("options")) {
      element.input.selectedIndex = part.value ?? -1;
    }
  },
};

KINDS.radio = {
  make() { return make("div", { class: "kiplab-choices", role: "radiogroup" }); },
  paint(element, part, changed, { act, name }) {
    element.ariaLabel = part.description;
    if (changed.has("options")) {
      element.replaceChildren(...part.options.map((words, place) => {
        const input = make("input", { type: "radio", name });
        input.addEventListener("change", () => act("value", place));
        const label = ticking(`${name}-${place}`, input);
        label.words.textContent = words;
        return label;
      }));
    }
    [...element.children].forEach((label, place) => {
      if (changed.has("value") || changed.has("options")) label.input.checked = place === part.value;
      label.input.disabled = part.disabled;
    });
  },
};

// Each thing can be dragged, and moved by arrow keys when it has the focus.
KINDS.ordered = {
  make({ act }) {
    const list = make("ol", { class: "kiplab-ordered" });
    const tell = () => act("value", [...list.children].map((item) => item.name), { latest: true });
    const put = (item, before) => {
      if (before === item || before === item.nextElementSibling) return;
      list.insertBefore(item, before);
      item.focus();
    };
    let item = null;
    list.addEventListener("pointerdown", ({ target, pointerId }) => {
      item = target.closest("li");
      if (item) list.setPointerCapture(pointerId);
    });
    list.addEventListener("pointermove", ({ clientY }) => {
      if (!item) return;
      const isBelow = (other) => other.getBoundingClientRect().bottom > clientY;
      const over = [...list.children].find(isBelow) ?? list.lastChild;
      if (over !== item) put(item, isBefore(item, over) ? over.nextSibling : over);
    });
    list.addEventListener("lostpointercapture", () => {
      item = null;
      tell();
    });
    list.addEventListener("keydown", (event) => {
      const by = { ArrowUp: -1, ArrowDown: 2 }[event.key];
      if (!by) return;
      event.preventDefault();
      const items = [...list.children];
      put(event.target, items[Math.max(0, items.indexOf(event.target) + by)] ?? null);
      tell();
    });
    return list;
  },
  paint(list, part, changed) {
    list.ariaLabel = part.description;
    const items = [...list.children];
    if (!changed.has("value") || items.map((item) => item.name).join() === part.value.join()) return;
    const byName = new Map(items.map((item) => [item.name, item]));
    for (const name of part.value) {
      const item = byName.get(name) ?? make("li", { tabindex: "0" }, part.words[name]);
      item.name = name;
      list.append(item);
    }
  },
};

// A file is read here: the kernel may be on another machine.
KINDS.upload = {
  make({ act }) {
    const input = make("input", { type: "file", hidden: "" });
    const element = buttonOf(() => input.click());
    element.input = input;
    input.addEventListener("change", async () => {
      for (const file of input.files) {
        act("file", { name: file.name }, { buffers: [await file.arrayBuffer()] });
      }
      input.value = "";
    });
    return element;
  },
  paint(element, part) {
    paintButton(element, part);
    element.input.accept = part.accept;
    element.after(element.input);
  },
};

// It counts here, so that it keeps its pace however slow the kernel is.
KINDS.player = {
  make({ act }) { return Object.assign(make("span", { hidden: "" }), { act }); },
  paint(element, part, changed) {
    if (changed.has("value")) element.at = part.value;
    if (!changed.has("playing") && !changed.has("interval")) return;
    clearInterval(element.timer);
    if (!part.playing) return;
    element.timer = setInterval(() => {
      element.at = part.stops.find((stop) => stop > element.at) ?? element.at + 1;
      element.act("value", element.at, { latest: true });
      if (element.at < part.max) return;
      clearInterval(element.timer);
      element.act("playing", false);
    }, part.interval);
  },
  end(element) { clearInterval(element.timer); },
};
