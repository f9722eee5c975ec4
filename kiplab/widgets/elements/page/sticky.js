// The picture and what belongs to it stay in sight while the panels below are scrolled. A page may
// put boxes around a cell's output that clip, or that would scroll if they were too small: in such a
// box nothing stays, so it is opened as long as everything fits into it.
const STAGE = ".kiplab-stage";
const OPENED = "kiplab-opened";
const GROWING = ".kiplab-growing";
// So much of the window belongs to the panels at least; of a higher stage the top scrolls away.
const PANELS = 0.28;

const clipping = (box) => getComputedStyle(box).overflowY;
const scrolls = (box) =>
  /auto|scroll/.test(clipping(box)) && box.scrollHeight > box.clientHeight + 1;
const isTooNarrow = (box) => box.scrollWidth > box.clientWidth + 1;

// What the last part of a stage needs above its least height does not push the others away.
const heightOf = (stage) => {
  const last = stage.querySelector(GROWING);
  const more = last ? last.offsetHeight - parseFloat(getComputedStyle(last).minHeight) : 0;
  return stage.offsetHeight - more;
};

// The boxes around the stage, and what scrolls them: the page, if nothing else does.
const around = (stage) => {
  const boxes = [];
  for (let box = stage.parentElement; box && box !== document.body; box = box.parentElement) {
    if (scrolls(box)) return [boxes, box];
    boxes.push(box);
  }
  return [boxes, document.documentElement];
};

const keepInSight = (el) => {
  let opened = [];
  const watched = new Set();
  const close = () => opened.forEach((box) => box.classList.remove(OPENED));
  const settle = (stage) => {
    close();
    const [boxes, scroller] = around(stage);
    const holding = boxes.filter((box) => clipping(box) !== "visible");
    const stays = !holding.some(isTooNarrow);
    opened = stays ? holding : [];
    for (const box of opened) box.classList.add(OPENED);
    const room = Math.floor(scroller.clientHeight * (1 - PANELS));
    const top = Math.min(0, room - heightOf(stage));
    stage.style.top = stays ? `${top}px` : "auto";
    const seen = stays ? stage.offsetHeight + top : 0;
    stage.parentElement.style.setProperty("--kiplab-stage", `${seen}px`);
    return [stage, scroller, ...holding];
  };
  // To watch a box a second time would call back once more, for ever.
  const follow = (box) => {
    if (!watched.has(box)) watch.observe(box);
    watched.add(box);
  };
  const watch = new ResizeObserver(() => {
    const stage = el.querySelector(STAGE);
    if (stage?.offsetHeight) settle(stage).forEach(follow);
  });
  follow(el);
  return () => {
    watch.disconnect();
    close();
  };
};
