// One output cannot be both: the newer choice stands, the older one is cleared and said so. It comes back when the
// newer choice moves on: arrow keys choose everything that they pass.
for (const set of document.querySelectorAll("[data-best-worst]")) {
  const answer = set.querySelector("[type=hidden]");
  const said = set.querySelector("[role=status]");
  const chosen = (which) => set.querySelector(`[name="${answer.name}-${which}"]:checked`);

  let cleared = null;

  set.addEventListener("change", ({ target }) => {
    const which = target.name.endsWith("-best") ? "best" : "worst";
    const other = which === "best" ? "worst" : "best";
    if (cleared?.name.endsWith(`-${other}`) && cleared.value !== target.value) cleared.checked = true;
    const clash = chosen(other)?.value === target.value;
    cleared = clash ? chosen(other) : null;
    if (clash) cleared.checked = false;
    said.textContent = clash ? said.dataset[which].replace("{which}", target.dataset.output) : "";
    const best = chosen("best")?.value, worst = chosen("worst")?.value;
    answer.value = best && worst ? `${best},${worst}` : "";
    if (!answer.value) return;
    const detail = { name: answer.name, value: answer.value };
    set.dispatchEvent(new CustomEvent("answer", { bubbles: true, detail }));
  });
}
