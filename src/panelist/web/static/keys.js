// Digits answer the question in use: the one with focus, else the first without an answer. The switch turns
// them off, here and on later pages (WCAG 2.1.4); typing in a field never counts.
const questions = [...document.querySelectorAll("fieldset[data-keys]")];
const on = document.querySelector("#keys-on");
const isOpen = (question) => !question.querySelector(":checked");

try {
  on.checked = localStorage.getItem("panelist:keys") !== "off";
  on.addEventListener("change", () => localStorage.setItem("panelist:keys", on.checked ? "on" : "off"));
} catch { /* a browser that keeps nothing: the switch holds for this page */ }

document.addEventListener("keydown", (event) => {
  if (!on.checked || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("textarea, select, input:not([type=radio], [type=checkbox])")) return;
  const question = event.target.closest("fieldset[data-keys]") ?? questions.find(isOpen);
  const radio = question?.querySelector(`input[data-key="${CSS.escape(event.key)}"]`);
  if (!radio) return;
  radio.checked = true;
  radio.dispatchEvent(new Event("input", { bubbles: true }));
  radio.dispatchEvent(new Event("change", { bubbles: true }));
  (questions.find(isOpen)?.querySelector("input") ?? document.querySelector("#next")).focus();
});
