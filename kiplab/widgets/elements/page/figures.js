// Figures that cells show are drawn by JupyterLab, in the colours that the kernel gave them. On a dark
// page each colour of the light theme becomes that of the dark one, unless a theme was asked for; also
// on what plotly draws anew or adds later, such as hover cards. On a light page they come back.
const PAINTED = ["fill", "stroke", "background-color"];

const rgbOf = (hex) => {
  const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return `rgb(${parts.join(", ")})`;
};
const hexes = Object.entries(DARK_OF_LIGHT).filter((pair) => pair.every((color) => color.startsWith("#")));
const darkOf = new Map(hexes.map((pair) => pair.map(rgbOf)));
// By element what stood there, and what it became; a white that has become one stays.
const repainted = new WeakMap();

const darken = (element) => {
  if (!element.style) return;
  const changes = repainted.get(element) ?? new Map();
  for (const name of PAINTED) {
    const now = element.style.getPropertyValue(name);
    if (!darkOf.has(now) || changes.get(name)?.dark === now) continue;
    changes.set(name, { light: now, dark: darkOf.get(now) });
    element.style.setProperty(name, darkOf.get(now));
  }
  repainted.set(element, changes);
};

const lighten = (element) => {
  for (const [name, { light, dark }] of repainted.get(element) ?? []) {
    if (element.style.getPropertyValue(name) === dark) element.style.setProperty(name, light);
  }
  repainted.delete(element);
};

const allOf = (element) => [element, ...element.querySelectorAll("*")];
const turns = (figure) => figure.layout?.meta?.turns && !figure.closest(".kiplab-surface");

const follower = (figure) => {
  const watch = new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      darken(target);
      for (const added of addedNodes) if (added.nodeType === Node.ELEMENT_NODE) allOf(added).forEach(darken);
    }
  });
  const attributes = { attributes: true, attributeFilter: ["style"] };
  watch.observe(figure, { subtree: true, childList: true, ...attributes });
  return watch;
};

// Once for a page, whichever panel comes first.
const turnFigures = () => {
  if (!isFirst("kiplabFigures")) return;
  const followed = new WeakMap();
  let isDarkNow = false;
  let waiting = false;
  const turn = (figure) => {
    if (isDarkNow === followed.has(figure) || !turns(figure)) return;
    if (isDarkNow) {
      allOf(figure).forEach(darken);
      followed.set(figure, follower(figure));
    } else {
      followed.get(figure).disconnect();
      followed.delete(figure);
      allOf(figure).forEach(lighten);
    }
  };
  const update = () => {
    waiting = false;
    document.querySelectorAll(".js-plotly-plot").forEach(turn);
  };
  const soon = () => {
    if (!waiting) requestAnimationFrame(update);
    waiting = true;
  };
  new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
  watchTheme(document.body, (theme) => {
    isDarkNow = theme === "dark";
    update();
  });
};
