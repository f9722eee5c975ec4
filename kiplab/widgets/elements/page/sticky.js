// What one needs to see while one acts stays visible: the head always, the picture below it where the
// window is high enough for both. A page may put boxes around a cell's output that clip, or that would
// scroll if they were too small: in such a box nothing stays, so it is opened while everything fits.
const OPENED = "kiplab-opened";
// So much of the window belongs to the panels at least.
const PANELS = 0.28;
const PAUSE = 120;
// As the style sheet has it: from this width on panels lie beside, and so much is theirs.
const BESIDE = 1180;
const PANELS_WIDE = 434;
// As high as the head will be where there is none yet.
const HEAD_HIGH = 104;

const clipping = (box) => getComputedStyle(box).overflowY;
const scrolls = (box) =>
  /auto|scroll/.test(clipping(box)) && box.scrollHeight > box.clientHeight + 1;
const isTooNarrow = (box) => box.scrollWidth > box.clientWidth + 1;

// The boxes around a panel, and what scrolls them: the page, if nothing else does.
const around = (panel) => {
  const boxes = [];
  for (let box = panel.parentElement; box && box !== document.body; box = box.parentElement) {
    if (scrolls(box)) return [boxes, box];
    boxes.push(box);
  }
  return [boxes, document.documentElement];
};

// `report` hears how many pixels there are for a picture, whenever that changes; `busy` hears whether
// that is about to happen.
const keepVisible = (el, report, busy) => {
  let opened = [];
  let last = "";
  let timer;
  const watched = new Set();
  const keep = keepInPlace(el);
  const close = () => opened.forEach((box) => box.classList.remove(OPENED));
  const settle = (head, stage) => {
    close();
    const [boxes, scroller] = around(el);
    const holding = boxes.filter((box) => clipping(box) !== "visible");
    const stays = !holding.some(isTooNarrow);
    opened = stays ? holding : [];
    for (const box of opened) box.classList.add(OPENED);
    const high = head.offsetHeight;
    const beside = stage.parentElement.offsetWidth > stage.offsetWidth + 100;
    const room = scroller.clientHeight * (beside ? 1 : 1 - PANELS);
    const fits = stays && (beside || high + stage.offsetHeight <= room);
    head.style.position = stays ? "sticky" : "static";
    stage.style.position = fits ? "sticky" : "static";
    stage.style.top = `${high}px`;
    const cover = (stays ? high : 0) + (fits && !beside ? stage.offsetHeight : 0);
    el.style.setProperty("--kiplab-stage", `${cover}px`);
    tell({ width: stage.clientWidth, height: scroller.clientHeight - high });
    keep(scroller);
    return [head, stage, scroller, ...holding];
  };
  // A window that is being resized is measured when it has come to rest.
  const tell = (room) => {
    const now = JSON.stringify(room);
    clearTimeout(timer);
    const changes = now !== last && room.width > 0;
    busy(changes);
    if (!changes) return;
    timer = setTimeout(() => {
      last = now;
      report(room);
      busy(false);
    }, last ? PAUSE : 0);
  };
  // What there will be, as long as there is no picture: then the first one is of the right size.
  const expected = () => {
    const [, scroller] = around(el);
    const beside = el.clientWidth >= BESIDE ? PANELS_WIDE : 0;
    return { width: el.clientWidth - beside, height: scroller.clientHeight - HEAD_HIGH };
  };
  // To watch a box a second time would call back once more, for ever.
  const follow = (box) => {
    if (!watched.has(box)) watch.observe(box);
    watched.add(box);
  };
  const watch = new ResizeObserver(() => {
    const [head, stage] = ["head", "stage"].map((name) => el.querySelector(`.kiplab-${name}`));
    if (head && stage?.offsetHeight) settle(head, stage).forEach(follow);
    else tell(expected());
  });
  follow(el);
  return () => {
    clearTimeout(timer);
    watch.disconnect();
    keep.end();
    close();
  };
};
