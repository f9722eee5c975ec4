// A native range input: reachable and movable by keyboard, and named. Positions that come faster
// than the kernel answers are merged into the last one by save_changes.
export default {
  render({ model, el }) {
    const input = document.createElement("input");
    input.type = "range";
    input.step = "1";
    // JupyterLab would take the arrow keys for itself.
    input.dataset.lmSuppressShortcuts = "true";
    // Each slider has a module of its own: one that counted would give them all the same id.
    input.id = `kiplab-slider-${Math.random().toString(36).slice(2)}`;
    input.style.cssText = "flex:1 1 auto;min-width:80px;margin:0 8px";
    const label = document.createElement("label");
    label.htmlFor = input.id;
    const number = document.createElement("output");
    number.htmlFor = input.id;
    number.style.cssText = "min-width:4.4em;text-align:right;font-variant-numeric:tabular-nums";
    const row = document.createElement("div");
    row.style.cssText = "display:flex;align-items:center;min-height:28px;font-size:13px;"
      + "color:var(--jp-ui-font-color1,#1b1f23)";
    row.append(label, input, number);
    el.append(row);

    const say = (value) => { number.textContent = `${value} of ${model.get("max")}`; };
    const follow = () => {
      label.textContent = model.get("description");
      input.min = model.get("min");
      input.max = model.get("max");
      input.value = model.get("value");
      say(model.get("value"));
    };
    input.addEventListener("input", () => {
      say(input.value);
      model.set("value", Number(input.value));
      model.save_changes();
    });
    for (const trait of ["description", "min", "max", "value"]) model.on(`change:${trait}`, follow);
    follow();
  },
};
