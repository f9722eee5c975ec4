// JupyterLab takes arrow keys and others from everything that has the focus and is no text field.
// In here they belong to the controls: menus, sliders, boxes. JupyterLab asks only the element that
// has the focus, so each one says so when it gets it. Once per page is enough.
const INSIDE = ".kiplab-keys";
const NATIVE = Object.getOwnPropertyDescriptor(HTMLButtonElement.prototype, "disabled");

// A browser takes the focus from a button that becomes disabled, and whoever has no mouse is lost.
// As long as it has the focus such a button only does nothing, and says so.
const stay = (button) => {
  let off = NATIVE.get.call(button);
  const follow = () => {
    const here = off && document.activeElement === button;
    if (here) button.setAttribute("aria-disabled", "true");
    else button.removeAttribute("aria-disabled");
    NATIVE.set.call(button, off && !here);
  };
  const set = (value) => {
    off = Boolean(value);
    follow();
  };
  Object.defineProperty(button, "disabled", { configurable: true, get: () => off, set });
  button.addEventListener("blur", follow);
};

// What had the focus and is gone leaves it to the nearest that is left of what was around it. That
// does nothing when a key is pressed once too often, and Tab goes on from there.
const refuge = ([lost, ...around]) => {
  if (lost.isConnected || document.activeElement !== document.body) return;
  const left = around.find((element) => element.isConnected);
  if (!left) return;
  left.tabIndex = -1;
  left.focus({ preventScroll: true });
};

const upTo = (box, element) => {
  const path = [element];
  while (path.at(-1) !== box) path.push(path.at(-1).parentElement);
  return path;
};

const keepKeys = () => {
  if (!isFirst("kiplabKeys")) return;
  let path = [];
  const gone = new MutationObserver(() => refuge(path));
  document.addEventListener("focusin", ({ target }) => {
    const box = target.closest?.(INSIDE);
    gone.disconnect();
    if (!box || target === box) return;
    target.dataset.lmSuppressShortcuts = "true";
    if (target.matches("button") && !Object.hasOwn(target, "disabled")) stay(target);
    path = upTo(box, target);
    gone.observe(box, { childList: true, subtree: true });
  });
  const refuse = (event) => {
    if (!event.target.closest?.(`${INSIDE} [aria-disabled="true"]`)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.addEventListener("click", refuse, true);
  // The keys are the controls' own, so somebody has to give them back: to the notebook's cell.
  document.addEventListener("keydown", ({ key, target }) => {
    if (key === "Escape" && target.closest?.(INSIDE)) target.closest(".jp-Cell")?.focus();
  });
};
