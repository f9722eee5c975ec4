// Looks for words in what is told of a run.
const finderField = () => {
  const element = document.createElement("div");
  element.className = "kiplab-finder";
  const said = document.createElement("label");
  said.textContent = "Search";
  const field = document.createElement("input");
  field.type = "search";
  field.id = said.htmlFor = `kiplab-finder-${Math.random().toString(36).slice(2)}`;
  field.placeholder = "broker 2, INELIGIBLE_REPLICA …";
  field.title = "Enter: the next match, and the picture goes to its step. Escape: clear";
  element.append(said, field, document.createElement("output"));
  return element;
};

// Plain words, as they are written; a number is not found in a longer one.
const patternOf = (words) => {
  const said = words.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+");
  if (!said) return null;
  const before = /^\d/.test(words.trim()) ? "(?<!\\d)" : "";
  return new RegExp(`${before}${said}${/\d\s*$/.test(words) ? "(?!\\d)" : ""}`, "i");
};

const textOf = (line) =>
  line.cells ? [...line.cells].map((cell) => cell.textContent).join("\t") : line.textContent;

// `lines()` are those in which words are looked for; `reached()` is the last step that may be told,
// and `run()` another value whenever another run is told.
const searchOf = ({ lines, reached, run }) => {
  let wanted = null;
  let matches = [];
  let current = null;
  let remembered = { run: undefined, told: [] };
  let masked = false;

  const first = ({ ids }) => stepOf(ids[0]);
  const isTold = (line) => idsOf(line.dataset.about).every((id) => stepOf(id) <= reached());
  const isSame = (one, other) => one?.text === other.text && String(one.ids) === String(other.ids);

  // What was told before one went back is not forgotten: the next match may be there.
  const takeIn = () => {
    const all = wanted ? lines() : [];
    const told = all.filter(isTold).map((line) =>
      ({ line, ids: idsOf(line.dataset.about), text: textOf(line) }));
    masked = told.length < all.length;
    const last = Math.max(-1, ...told.map(first));
    const kept = wanted && remembered.run === run() ? remembered.told : [];
    const later = kept.filter((each) => first(each) > last).map((each) => ({ ...each, line: null }));
    remembered = { run: run(), told: [...told, ...later] };
    matches = wanted ? remembered.told.filter(({ text }) => wanted.test(text)) : [];
    matches.sort((one, other) => first(one) - first(other));
    current = matches.find((each) => isSame(current, each)) ?? null;
  };

  return {
    takeIn,
    look(words) {
      wanted = patternOf(words);
      current = null;
      takeIn();
    },
    // The next match, or with -1 the one before; undefined where there is none.
    next(by) {
      const place = matches.indexOf(current);
      const from = place < 0 && by < 0 ? 0 : place;
      current = matches[(from + by + matches.length) % matches.length] ?? null;
      return current;
    },
    has: (line) => Boolean(wanted) && isTold(line) && wanted.test(textOf(line)),
    get isOn() { return Boolean(wanted); },
    get current() { return current; },
    get ids() { return matches.flatMap(({ ids }) => ids); },
    get said() {
      if (!wanted) return "";
      const where = masked ? ` up to step ${reached()}` : "";
      const which = current ? `, this is number ${matches.indexOf(current) + 1}` : "";
      return `${matches.length} of ${remembered.told.length}${where}${which}`;
    },
  };
};
