// A page of the guard matrix: a cell opens the timeline of its counterexample below the map.
(function () {
  const cells = JSON.parse(document.getElementById("kiplab-cells").textContent);
  const viewer = document.getElementById("kiplab-viewer");
  const buttons = document.querySelectorAll("button[data-cell]");

  // Scripts that arrive as text do not run until they are made anew.
  function awaken(part) {
    for (const old of part.querySelectorAll("script:not([type])")) {
      const script = document.createElement("script");
      script.textContent = old.textContent;
      old.replaceWith(script);
    }
  }

  function viewOf(id) {
    const part = document.createElement("section");
    part.id = "view-" + id;
    part.innerHTML = cells[id];
    viewer.append(part);
    awaken(part);
    part.querySelector("[data-back]").addEventListener("click", () => {
      const from = document.querySelector('button[data-cell="' + id + '"]');
      from.focus();
      from.scrollIntoView({ block: "center" });
    });
    return part;
  }

  function open(id) {
    if (!cells[id]) return;
    for (const part of viewer.children) part.hidden = true;
    const part = document.getElementById("view-" + id) || viewOf(id);
    part.hidden = false;
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(button.dataset.cell === id));
    }
    const heading = part.querySelector("h2");
    heading.focus();
    heading.scrollIntoView({ block: "start" });
  }

  for (const button of buttons) {
    button.addEventListener("click", () => {
      history.replaceState(null, "", "#" + button.dataset.cell);
      open(button.dataset.cell);
    });
  }
  const match = /^#(cell-\d+)/.exec(location.hash);
  if (match) open(match[1]);
})();
