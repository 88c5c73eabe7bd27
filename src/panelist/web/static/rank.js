// A rank can be given once: the newer choice stands, and the output that had the rank gets the one set free.
for (const set of document.querySelectorAll("[data-rank]")) {
  const answer = set.querySelector("[type=hidden]");
  const said = set.querySelector("[role=status]");
  const selects = [...set.querySelectorAll("select")];
  const had = new Map(selects.map((select) => [select, select.value]));

  set.addEventListener("change", ({ target }) => {
    const holder = selects.find((select) => select !== target && target.value && select.value === target.value);
    if (holder) holder.value = had.get(target);
    said.textContent = holder
      ? said.dataset[holder.value ? "moved" : "cleared"].replace("{which}", holder.dataset.output).replace("{rank}", holder.value)
      : "";
    for (const select of selects) had.set(select, select.value);
    const ranks = selects.map(({ value }) => value);
    answer.value = ranks.every(Boolean) ? ranks.join(",") : "";
    if (!answer.value) return;
    const detail = { name: answer.name, value: answer.value };
    set.dispatchEvent(new CustomEvent("answer", { bubbles: true, detail }));
  });
}
