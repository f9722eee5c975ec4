// The words of a page and its picture light each other up; a line above the words searches them.
const plot = document.getElementById("kiplab-plot");
const sections = document.querySelectorAll("[data-finds]");
if (plot?.kiplab && sections.length) {
  const { at, reached, go, drawn } = plot.kiplab;
  sections[0].before(finderField());
  const run = () => plot.kiplab.run;
  const lights = lightUp(document.querySelector("main"), { picture: drawn, at, reached, run, go });
  plot.addEventListener("kiplab-drawn", lights.renew);
}
