// A tree of parts as elements, and what is done to them as messages.
const RESTARTED = "The kernel was restarted. Run the cells from the top: what you locked in is kept.";
const SILENT = "The kernel has not answered yet. It is busy, or it is gone: then run the cells from"
  + " the top; what you locked in is kept.";
const PATIENCE = 6_000;
// How much this reader wants to press, from Lab to Lab.
const CONTROLS = "kiplab-controls";
const GONE = ["restarting", "autorestarting", "terminating", "dead"];

KINDS.box = { make() { return make("div", { class: "kiplab-box" }); }, paint() {} };

// Messages go out one at a time: what is set while one is under way waits, and of the positions of a
// slider only the last one does.
const mailbox = (view, tell, silent, busy) => {
  const waiting = [];
  let under_way = null;
  let count = 0;
  let patience;
  const send = () => {
    const next = waiting.shift();
    under_way = next ?? null;
    clearTimeout(patience);
    silent(false);
    busy(Boolean(next));
    if (!next) return;
    under_way.by = `${view}-${count += 1}`;
    const { buffers, latest, ...content } = next;
    patience = setTimeout(() => silent(true), PATIENCE);
    tell(content, buffers);
  };
  return {
    put(message) {
      const last = waiting.at(-1);
      const same = message.latest && last?.latest && last.part === message.part;
      if (same) waiting.pop();
      waiting.push(message);
      if (!under_way) send();
    },
    done(by) { if (under_way?.by === by) send(); },
    // The answer to what is under way may be lost.
    again() { if (under_way) send(); },
    isBusy() { return Boolean(under_way); },
    carries(part, name) {
      return [under_way, ...waiting].some((m) => m?.part === part && m.name === name);
    },
    knows(part, name) { return waiting.some((m) => m.part === part && m.name === name); },
    end() { clearTimeout(patience); },
  };
};

// What was pressed or set in `el` and is not answered yet shows that, and what is old by then is dimmed.
// Of what only prepares a press, such as the letters of a line, nobody waits for an answer.
const PREPARES = ["foresee", "playing"];
const UNSEEN = ["text", "player"];
const signsOfWork = (el) => {
  const waiting = new Set();
  let settles = false;
  const mark = () => el.classList.toggle("kiplab-waits", waiting.size > 0);
  return {
    begin(element, part, name) {
      if (PREPARES.includes(name) || UNSEEN.includes(part.kind)) return;
      waiting.add(element);
      element.classList.add("kiplab-asked");
      mark();
      if (!part.final) return;
      settles = true;
      for (const control of el.querySelectorAll("button, input, select")) control.disabled = true;
    },
    // Returns whether something was switched off.
    end() {
      waiting.forEach((element) => element.classList.remove("kiplab-asked"));
      waiting.clear();
      mark();
      const was = settles;
      settles = false;
      return was;
    },
  };
};

const bannerIn = (el) => {
  const banner = make("div", { class: "kiplab-banner", role: "alert", hidden: "" });
  el.append(banner);
  return (text) => {
    banner.hidden = !text;
    set(banner, "textContent", text);
    el.classList.toggle("kiplab-unheard", Boolean(text));
  };
};

export default ({ model, el }) => {
  // Always asked for: a page that was without its connection is given another one.
  const tree = () => model.get("tree");
  let number = 0;
  const elements = new Map();
  const view = Math.random().toString(36).slice(2);
  const say = bannerIn(el);
  let gone = false;
  const orphaned = () => {
    gone = true;
    signs.end();
    say(RESTARTED);
  };
  // A kernel may be gone before anybody has said so.
  const tell = (content, buffers = []) => {
    if (gone) return;
    try {
      model.send(content, undefined, buffers);
    } catch {
      orphaned();
    }
  };
  const silent = (is) => { if (!gone) say(is ? SILENT : ""); };
  const reasons = new Set();
  const busyWith = (reason) => (is) => {
    if (is) reasons.add(reason);
    else reasons.delete(reason);
    el.setAttribute("aria-busy", String(reasons.size > 0));
  };
  const signs = signsOfWork(el);
  const outbox = mailbox(view, tell, silent, (is) => {
    busyWith("outbox")(is);
    if (!is && signs.end()) for (const id of elements.keys()) paint(id, new Set());
    fetchSoon();
  });
  // Steps are asked for when the first picture is there and on the screen.
  const later = () => (window.requestIdleCallback ?? setTimeout)(steps.fetch);
  const fetchSoon = () => { if (isDrawn) requestAnimationFrame(later); };
  let isDrawn = false;
  const drew = () => {
    if (!isDrawn) tell({ drawn: tree().number });
    isDrawn = true;
    lights.renew();
    fetchSoon();
  };

  const toolsOf = (id) => ({
    model,
    drew,
    name: `kiplab-${view}-${id}`,
    act(name, value, { latest = false, buffers } = {}) {
      if (steps.takes(id, name, value)) {
        lights.renew();
        return;
      }
      if (gone) return;
      signs.begin(elements.get(id), tree().parts[id], name);
      outbox.put({ part: id, name, value, latest, buffers });
    },
  });

  const dress = (element, part, changed) => {
    if (changed.has("style")) {
      element.style.cssText = "";
      for (const [name, value] of Object.entries(part.style)) element.style.setProperty(name, value);
    }
    if (changed.has("classes")) {
      element.classList.remove(...(element.dressed ?? []));
      element.classList.add(...part.classes);
      element.dressed = part.classes;
    }
    if (changed.has("tooltip")) element.title = part.tooltip;
  };

  const elementOf = (id) => {
    if (elements.has(id)) return elements.get(id);
    const part = tree().parts[id];
    const element = KINDS[part.kind].make(toolsOf(id));
    element.kind = part.kind;
    elements.set(id, element);
    paint(id, new Set(Object.keys(part)));
    return element;
  };

  // Elements that stay are not moved: one that is taken out and put back loses focus and scrolling.
  const fill = (element, ids) => {
    const children = ids.map(elementOf);
    for (const child of [...element.children]) if (!children.includes(child)) child.remove();
    children.forEach((child, place) => {
      if (element.children[place] !== child) element.insertBefore(child, element.children[place]);
    });
  };

  const paint = (id, changed) => {
    const part = tree().parts[id];
    const element = elements.get(id);
    const fresh = new Set([...changed].filter((name) => !outbox.knows(id, name)));
    dress(element, part, changed);
    KINDS[part.kind].paint(element, part, fresh, toolsOf(id));
    if (changed.has("children")) fill(element, part.children);
  };

  const forget = () => {
    const kept = new Set();
    const keep = (id) => {
      kept.add(id);
      (tree().parts[id].children ?? []).forEach(keep);
    };
    keep(tree().root);
    for (const [id, element] of elements) {
      if (kept.has(id)) continue;
      KINDS[element.kind].end?.(element);
      elements.delete(id);
    }
    for (const id of Object.keys(tree().parts)) if (!kept.has(id)) delete tree().parts[id];
  };

  const steps = reelOf({
    tree,
    paint(id, traits) { if (elements.has(id)) paint(id, new Set(Object.keys(traits))); },
    element: (id) => elements.get(id),
    ask: (content) => tell(content),
    outbox: () => ({ ...outbox, put(message) { if (!gone) outbox.put(message); } }),
    renew() { tell({ hello: -1 }); },
  });

  const endAll = () => {
    for (const element of elements.values()) KINDS[element.kind].end?.(element);
  };

  const drawAll = () => {
    endAll();
    for (const element of elements.values()) element.remove();
    elements.clear();
    number = tree().number;
    el.append(elementOf(tree().root));
    steps.begin();
  };

  const whenLetGo = holdStill(el);

  // Whether it is the next one is asked when it arrives: by the time it is drawn others may be here.
  const follow = (message) => {
    const patch = message.number === tree().number ? message.patch : undefined;
    whenLetGo(() => show(message, patch));
  };

  const show = (message, patch) => {
    if (message.controls) localStorage.setItem(CONTROLS, message.controls);
    if (message.done) {
      outbox.done(message.done);
      steps.settle();
    }
    if (message.tree) drawAll();
    if (!patch) return;
    number = message.number;
    for (const [id, traits] of Object.entries(steps.left(patch))) {
      if (elements.has(id)) paint(id, new Set(Object.keys(traits)));
    }
    if (Object.values(patch).some((traits) => traits.children)) forget();
    lights.renew();
    fetchSoon();
  };

  // After a time without a connection nobody knows what has arrived.
  const renew = () => {
    if (tree().number > number) drawAll();
    outbox.again();
    steps.again();
    tell({ hello: tree().number });
  };

  const lights = lightsOf(el);

  const kernel = model.widget_manager?.kernel;
  const back = (_, status) => { if (status === "connected") renew(); };
  const heed = (_, status) => { if (GONE.includes(status)) orphaned(); };

  el.classList.add("kiplab-surface", "kiplab-keys", "kiplab-live");
  drawAll();
  // To read plotly.js takes a second: it is there before the first picture is.
  if (model.get("plotly")) plotlyOf(model).catch(() => {});
  model.on("msg:custom", follow);
  model.on("change:tree", renew);
  model.on("comm_live_update", orphaned);
  kernel?.statusChanged?.connect(heed);
  kernel?.connectionStatusChanged?.connect(back);
  followLinks();
  turnFigures();
  const leave = [
    watchTheme(el, (theme) => tell({ theme })), keepKeys(), whenLetGo.end,
    keepVisible(el, (room) => tell({ room }), busyWith("room")),
  ];
  const kept = localStorage.getItem(CONTROLS);
  if (kept) tell({ controls: kept });
  tell({ hello: tree().number });
  return () => {
    model.off("msg:custom", follow);
    model.off("change:tree", renew);
    model.off("comm_live_update", orphaned);
    kernel?.statusChanged?.disconnect(heed);
    kernel?.connectionStatusChanged?.disconnect(back);
    leave.forEach((end) => end?.());
    lights.end();
    outbox.end();
    endAll();
  };
};
