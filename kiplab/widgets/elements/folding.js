// Shows HTML, and keeps what the reader has unfolded (and where the focus is) when it changes.
export default {
  render({ model, el }) {
    const open = new Map();
    const paint = () => {
      const focused = el.contains(document.activeElement)
        ? document.activeElement.closest("details")?.dataset.path : undefined;
      el.innerHTML = model.get("html");
      for (const fold of el.querySelectorAll("details")) {
        const path = fold.dataset.path;
        if (open.has(path)) fold.open = open.get(path);
        if (path === focused) fold.querySelector("summary").focus();
        fold.addEventListener("toggle", () => open.set(path, fold.open));
      }
    };
    paint();
    model.on("change:html", paint);
  },
};
