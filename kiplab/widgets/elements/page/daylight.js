// Tells the kernel whether the page is dark, now and whenever that changes. JupyterLab and VS Code
// say it; elsewhere it is seen from what lies behind the widget, or else from the reader's system.
const SYSTEM = window.matchMedia("(prefers-color-scheme: dark)");

// Whether nobody has asked in this page for what is done once, whichever panel comes first.
const isFirst = (what, { dataset } = document.body) => !dataset[what] && (dataset[what] = "true");

// Red, green and blue from 0 to 255, alpha from 0 to 1: browsers compute nearly every colour so.
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const color = getComputedStyle(at).backgroundColor;
    const parts = color.startsWith("rgb") ? color.match(/[\d.]+/g).map(Number) : [0, 0, 0, 0];
    const [, , , alpha = 1] = parts;
    if (alpha > 0.5) return parts;
  }
  return null;
};

const isDark = (element) => {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (jpThemeLight !== undefined) return jpThemeLight === "false";
  if (vscodeThemeKind !== undefined) return !vscodeThemeKind.endsWith("light");
  const color = behind(element);
  if (!color) return SYSTEM.matches;
  const [red, green, blue] = color;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
};

const watchTheme = (element, report) => {
  let last;
  const tell = () => {
    const theme = isDark(element) ? "dark" : "light";
    document.body.dataset.kiplabPage = theme;
    if (theme === last) return;
    last = theme;
    report(theme);
  };
  const watch = new MutationObserver(tell);
  const attributeFilter = ["class", "style", "data-jp-theme-light", "data-vscode-theme-kind", "theme"];
  for (const root of [document.documentElement, document.body]) {
    watch.observe(root, { attributes: true, attributeFilter });
  }
  SYSTEM.addEventListener("change", tell);
  tell();
  return () => {
    watch.disconnect();
    SYSTEM.removeEventListener("change", tell);
  };
};
