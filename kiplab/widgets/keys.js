// JupyterLab takes arrow keys and others from everything that has the focus and is no text field.
// In here they belong to the controls: menus, sliders, boxes. JupyterLab asks only the element that
// has the focus, so each one says so when it gets it. Once per page is enough.
const MARK = "kiplabKeys";

export default {
  render({ el }) {
    el.style.display = "none";
    if (document.body.dataset[MARK]) return;
    document.body.dataset[MARK] = "true";
    document.addEventListener("focusin", (event) => {
      if (event.target.closest?.(".kiplab-keys")) {
        event.target.dataset.lmSuppressShortcuts = "true";
      }
    });
  },
};
