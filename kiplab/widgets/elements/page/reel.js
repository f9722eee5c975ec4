// Goes from step to step without the kernel, which has sent what is shown and hears where one stands.
const AT_ONCE = 4;
const AROUND = 40;

const TARGETS = {
  first: () => 0,
  back: ({ stops }, at) => stops.filter((stop) => stop < at).at(-1) ?? 0,
  step: ({ stops }, at) => stops.find((stop) => stop > at) ?? at,
  last: ({ stops }) => stops.at(-1),
  to: (_, __, value) => value,
};

const unpacked = (value, items) => {
  if (Array.isArray(value)) return value.map((place) => unpacked(items[place], items));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unpacked(each, items)]));
};

// Of a panel whose `tree()` has a reel, or has none. `paint` draws these traits of a part, `element` is
// that of a part, `ask` sends past the mailbox, and `renew` has the kernel send all there is.
const reelOf = ({ tree, paint, element, ask, outbox, renew }) => {
  const sheets = new Map();
  let [id, edition, at, isAsked] = [];
  let way = "step";
  const reel = () => tree().parts[id];
  // Whether the kernel does not know yet where the page stands.
  const isAhead = () => outbox().carries(id, "at");
  const show = (sheet) => {
    for (const [part, traits] of Object.entries(sheet).filter(([each]) => tree().parts[each])) {
      Object.assign(tree().parts[part], traits);
      paint(part, traits);
    }
  };
  const keep = ({ edition: of, steps, items }) => {
    isAsked = false;
    if (of !== edition) return;
    for (const [step, sheet] of Object.entries(steps)) sheets.set(Number(step), unpacked(sheet, items));
    element(id).dataset.steps = sheets.size;
  };
  const turn = () => {
    sheets.clear();
    delete element(id)?.dataset.steps;
    isAsked = false;
    ({ edition, at } = isAhead() ? { ...reel(), at } : reel());
  };
  // What is shown stays as it is here, whatever a patch has said of it.
  const without = ([part, traits]) => {
    const shown = sheets.get(at)?.[part] ?? {};
    const kept = Object.keys(traits).filter((name) => name in shown);
    for (const name of kept) tree().parts[part][name] = shown[name];
    return [part, Object.fromEntries(Object.entries(traits).filter(([name]) => !kept.includes(name)))];
  };
  // The picture that comes next if one goes on as before.
  const prepare = () => {
    for (const [part, { drawing }] of Object.entries(sheets.get(TARGETS[way](reel(), at)) ?? {})) {
      if (drawing) element(part)?.prepare?.(drawing);
    }
  };
  return {
    // The whole tree was drawn.
    begin() {
      [id] = Object.entries(tree().parts).find(([, part]) => part.kind === "reel") ?? [];
      if (!id) return;
      isAsked = false;
      if (edition !== reel().edition) turn();
      else ({ at } = reel());
    },
    // What was asked for may be lost.
    again() { isAsked = false; },
    // Have the steps nearest to this one sent that are not here, when there is nothing else to do.
    fetch() {
      if (reel()) prepare();
      if (!reel() || isAsked || outbox().isBusy()) return;
      const far = (step) => Math.abs(step - at);
      const missing = [...Array(reel().last + 1).keys()]
        .filter((step) => !sheets.has(step) && far(step) <= AROUND)
        .sort((one, other) => far(one) - far(other));
      if (!missing.length) return;
      isAsked = true;
      ask({ part: id, name: "sheets", value: [edition, ...missing.slice(0, AT_ONCE)] });
    },
    // Whether what was done to a part is a move to a step that is here: then it is made.
    takes(part, name, value) {
      // After a move that the kernel has to make it makes the next ones too, in their order.
      const isKernels = Object.keys(reel()?.moves ?? {}).some((each) => outbox().carries(each, name));
      if (isKernels || tree().parts[part].leads) return false;
      const move = ["press", "value"].includes(name) && reel()?.moves[part];
      const to = move && TARGETS[move](reel(), at, value);
      if (!sheets.has(to)) return false;
      way = move === "back" ? "back" : "step";
      at = to;
      show(sheets.get(to));
      outbox().put({ part: id, name: "at", value: [edition, to], latest: true });
      return true;
    },
    // What is to be drawn of a patch that the tree has already.
    left(patch) {
      if (!id) this.begin(); // A panel that waited for something has its reel since this patch.
      const mine = patch[id];
      if (mine?.edition !== undefined && mine.edition !== edition) turn();
      if (mine?.sheets) keep(mine.sheets);
      if (!id || !isAhead()) {
        at = reel()?.at;
        return patch;
      }
      return Object.fromEntries(Object.entries(patch).map(without));
    },
    // The kernel has answered: it may have decided otherwise.
    settle() {
      if (id && !isAhead() && reel().at !== at) renew();
    },
  };
};

KINDS.reel = { make() { return make("span", { class: "kiplab-reel", hidden: "" }); }, paint() {} };
