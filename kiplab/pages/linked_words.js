// The words of a page and its picture light each other up; a line above the words searches them. On a
// page of several pictures each has the words of its own section.
for (const plot of document.querySelectorAll(".kiplab-figure .plotly-graph-div")) {
  const root = plot.closest("[data-lights]") ?? document.querySelector("main");
  const sections = root.querySelectorAll("[data-finds]");
  if (!plot.kiplab || !sections.length) continue;
  const { at, reached, go, drawn } = plot.kiplab;
  sections[0].before(finderField());
  const run = () => plot.kiplab.run;
  const lights = lightUp(root, { picture: drawn, at, reached, run, go });
  plot.addEventListener("kiplab-drawn", lights.renew);
}
