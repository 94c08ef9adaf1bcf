"use strict";
{
  const form = document.querySelector("form.filter");
  const search = form.querySelector("input");
  const outcome = form.querySelector("select");
  const output = form.querySelector("output");
  const section = document.getElementById("requirements");
  const items = [...section.querySelectorAll("li[data-outcome]")].map((item) => [item, item.textContent.toLowerCase()]);

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [item, text] of items) {
      const fits = (!outcome.value || item.dataset.outcome === outcome.value) && words.every((word) => text.includes(word));
      item.hidden = !fits;
      shown += fits;
    }
    for (const group of section.querySelectorAll(".section")) {
      group.hidden = !group.querySelector("li[data-outcome]:not([hidden])");
    }
    output.textContent = shown === items.length ? "" : `${shown} of ${items.length} shown`;
  };

  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  if (search.value || outcome.value) filter();

  // A link to an exchange opens the details elements around it.
  const reveal = () => {
    const place = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!place) return;
    for (let node = place; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    place.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Print opens the evidence of failures, and closes it afterwards.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("#classes details:not([open]), .cause details:not([open]), .failure details:not([open]), #untested details:not([open])")];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of opened) details.open = false; });
}
