// A scrubber that shows a step on the picture of the way. Without JavaScript the page has the same
// content; only the scrubber is missing.
(() => {
  "use strict";
  const steps = [...document.querySelectorAll("li.step")];
  const picture = document.getElementById("picture-way");
  if (!picture || !steps.length) return;
  const drawing = picture.querySelector("svg"), given = picture.dataset;
  const agent = drawing.querySelector(".group-agent");
  const bar = document.createElement("div"), range = document.createElement("input");
  const label = document.createElement("label"), shown = document.createElement("output");
  bar.className = "scrubber";
  range.type = "range"; range.min = 0; range.max = steps.length; range.value = 0;
  range.id = "scrubber"; label.htmlFor = "scrubber"; label.textContent = "Step";
  shown.setAttribute("for", "scrubber"); shown.setAttribute("aria-live", "polite");
  const button = (text, by) => {
    const made = document.createElement("button");
    made.type = "button"; made.textContent = text;
    made.addEventListener("click", () => choose(Number(range.value) + by));
    return made;
  };
  bar.append(label, range, button("Back", -1), button("Next", 1), shown);
  drawing.before(bar);

  function choose(index) {
    index = Math.min(Math.max(index, 0), steps.length);
    range.value = index;
    const step = index ? steps[index - 1] : null;
    const objects = new Set(step ? JSON.parse(step.dataset.objects) : []);
    for (const one of steps) {
      one.classList.toggle("chosen", one === step);
      if (one === step) one.setAttribute("aria-current", "step");
      else one.removeAttribute("aria-current");
    }
    for (const mark of drawing.querySelectorAll("[data-name]"))
      mark.classList.toggle("chosen", objects.has(mark.dataset.name));
    for (const mark of drawing.querySelectorAll("[data-steps]"))
      mark.classList.toggle("chosen",
        step !== null && mark.dataset.steps.split(" ").includes(step.dataset.step));
    shown.textContent = step
      ? step.querySelector(".title").textContent.trim() : "at the start";
    range.setAttribute("aria-valuetext", shown.textContent);
    if (!agent) return;
    if (!step || !("x" in step.dataset)) { agent.removeAttribute("transform"); return; }
    const scale = Number(given.scale), x0 = Number(given.agentX), y0 = Number(given.agentY);
    const dx = (Number(step.dataset.x) - Number(given.left)) * scale - x0;
    const dy = (Number(given.top) - Number(step.dataset.z)) * scale - y0;
    const turn = Number(step.dataset.yaw) - Number(given.agentYaw);
    agent.setAttribute("transform", `translate(${dx} ${dy}) rotate(${turn} ${x0} ${y0})`);
  }
  range.addEventListener("input", () => choose(Number(range.value)));
  for (const mark of drawing.querySelectorAll(".group-route [data-steps]"))
    mark.addEventListener("click", () => {
      const numbers = mark.dataset.steps.split(" ");
      choose(1 + steps.findIndex((one) => numbers.includes(one.dataset.step)));
    });
  const follow = () => {
    const index = steps.findIndex((one) => "#" + one.id === location.hash);
    if (index >= 0) choose(index + 1);
  };
  addEventListener("hashchange", follow);
  choose(0);
  follow();
})();
