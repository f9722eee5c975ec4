// Looks for words in the sentences of a run.
const finderField = (placeholder = "broker 2, INELIGIBLE_REPLICA …") => {
  const id = `kiplab-finder-${Math.random().toString(36).slice(2)}`;
  const title = "Enter: the next match, and the picture goes to its step. Escape: clear";
  return make(
    "div", { class: "kiplab-finder" },
    make("label", { for: id }, "Search"),
    make("input", { type: "search", id, placeholder, title }),
    make("output"),
  );
};

// Plain words, as they are written; a number is not found in a longer one.
const patternOf = (words) => {
  const pattern = words.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+");
  if (!pattern) return null;
  const before = /^\d/.test(words.trim()) ? "(?<!\\d)" : "";
  return new RegExp(`${before}${pattern}${/\d\s*$/.test(words) ? "(?!\\d)" : ""}`, "i");
};

const textOf = (line) =>
  line.cells ? [...line.cells].map((cell) => cell.textContent).join("\t") : line.textContent;

// `lines()` are the lines to search; `reached()` is the last step that may be shown, and `run()`
// changes with the run.
const searchOf = ({ lines, reached, run }) => {
  let pattern = null;
  let matches = [];
  let current = null;
  let remembered = { run: undefined, entries: [] };
  let masked = false;

  const first = ({ ids }) => stepOf(ids[0]);
  const isShown = (line) => idsOf(line.dataset.about).every((id) => stepOf(id) <= reached());
  const isSame = (one, other) => one?.text === other.text && String(one.ids) === String(other.ids);

  // Lines of later steps are kept after a step back: the next match may be there.
  const takeIn = () => {
    const all = pattern ? lines() : [];
    const entries = all.filter(isShown).map((line) =>
      ({ line, ids: idsOf(line.dataset.about), text: textOf(line) }));
    masked = entries.length < all.length;
    const last = Math.max(-1, ...entries.map(first));
    const kept = pattern && remembered.run === run() ? remembered.entries : [];
    const later = kept.filter((each) => first(each) > last).map((each) => ({ ...each, line: null }));
    remembered = { run: run(), entries: [...entries, ...later] };
    matches = pattern ? remembered.entries.filter(({ text }) => pattern.test(text)) : [];
    matches.sort((one, other) => first(one) - first(other));
    current = matches.find((each) => isSame(current, each)) ?? null;
  };

  return {
    takeIn,
    setWords(words) {
      pattern = patternOf(words);
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
    has: (line) => Boolean(pattern) && isShown(line) && pattern.test(textOf(line)),
    get isOn() { return Boolean(pattern); },
    get current() { return current; },
    get ids() { return matches.flatMap(({ ids }) => ids); },
    get count() {
      if (!pattern) return "";
      const where = masked ? ` up to step ${reached()}` : "";
      const which = current ? `, this is number ${matches.indexOf(current) + 1}` : "";
      return `${matches.length} of ${remembered.entries.length}${where}${which}`;
    },
  };
};
