// Leads a Lab to a step that something else in the page names: a link in a notebook's prose, to
// #kafka-14139-step-6 for the Lab of that play; a match of a search.
const STEP_LINK = /^#(.+)-step-(\d+)$/;
// The Labs of a page: a link is anywhere, and a notebook takes far cells out of its page.
const guides = (globalThis.kiplabGuides ??= new Set());

KINDS.guide = {
  make({ act }) {
    const element = make("span", { class: "kiplab-guide", hidden: "" });
    element.go = (step, by) => act("go", { step, by }, { latest: true });
    guides.add(element);
    return element;
  },
  paint(element, part) {
    const { play, at, run } = part;
    Object.assign(element, { play, at, run });
  },
  end(element) { guides.delete(element); },
};

const isBefore = (one, other) =>
  Boolean(one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING);

// Of several Labs of one play, the one in the same notebook; there, the last one above the link.
const nearest = (link, candidates) => {
  for (let box = link; box; box = box.parentElement) {
    const here = candidates.filter((guide) => box.contains(guide));
    if (here.length) return here.filter((guide) => isBefore(guide, link)).at(-1) ?? here[0];
  }
  return candidates[0];
};

const isVisible = (element) => {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= window.innerHeight;
};

// To the cell of a notebook with that heading, and the focus with it.
const leadTo = (from) => {
  const page = from.closest(".jp-Notebook") ?? document;
  const heading = [...page.querySelectorAll("h2")]
    .find((h) => h.textContent.startsWith(from.dataset.kiplabLeads));
  heading?.scrollIntoView();
  heading?.closest(".jp-Cell")?.focus({ preventScroll: true });
  return Boolean(heading);
};

const followLink = (event) => {
  const leads = event.target.closest?.("[data-kiplab-leads]");
  // Whoever steps fast presses once too often: of quick clicks only the first one leads on.
  if (leads && event.detail > 1) event.stopImmediatePropagation();
  else if (leads && leadTo(leads)) event.preventDefault();
  const link = event.target.closest?.("a[href]");
  const [, play, step] = link?.hash && decodeURIComponent(link.hash).match(STEP_LINK) || [];
  const candidates = [...guides].filter((guide) => guide.play === play);
  if (!candidates.length) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const guide = nearest(link, candidates);
  guide.go(Number(step), "link");
  const lab = guide.closest(".kiplab-surface");
  if (lab && !isVisible(lab.querySelector(".kiplab-stage") ?? lab)) lab.scrollIntoView();
};

// JupyterLab takes Enter for itself, unless what has the focus says that the key is its own.
const keepEnter = ({ target }) => {
  if (target.matches?.("a[data-kiplab-leads]") || STEP_LINK.test(target.hash ?? "")) {
    target.dataset.lmSuppressShortcuts = "true";
  }
};

const followLinks = () => {
  if (!isFirst("kiplabFollowsLinks")) return;
  document.addEventListener("click", followLink, true);
  document.addEventListener("focusin", keepEnter);
};

// Of a Lab: its picture, and what is told of the run.
const lightsOf = (el) => {
  const guide = () => el.querySelector(".kiplab-guide");
  const picture = () => {
    const element = el.querySelector(".kiplab-stage .kiplab-picture");
    const layout = element?.drawing?.layout;
    return layout && { element, marks: layout.meta.marks, width: layout.width, height: layout.height };
  };
  return lightUp(el, {
    picture,
    at: () => guide()?.at ?? 0,
    reached: () => Infinity,
    run: () => guide()?.run,
    go: (step) => guide().go(step, "search"),
  });
};
