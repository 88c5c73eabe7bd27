// The code can be copied. The redirect waits, can be stopped, and stops by itself once someone starts to use
// the page with the keyboard (WCAG 2.2.1).
const copy = document.querySelector("#copy");
copy?.addEventListener("click", async () => {
  const code = document.querySelector("#code");
  try {
    await navigator.clipboard.writeText(code.textContent);
    copy.querySelector("span").textContent = document.querySelector("#copied").textContent = copy.dataset.copied;
  } catch { // without https, or not allowed: the code stands selected, ready to be copied by hand
    getSelection().selectAllChildren(code);
  }
});

const wait = document.querySelector("#wait");
if (wait) {
  const left = document.querySelector("#left");
  const stop = () => { clearInterval(timer); wait.textContent = wait.dataset.stopped; };
  const timer = setInterval(() => {
    left.textContent = Math.max(0, left.textContent - 1);
    if (left.textContent !== "0") return;
    clearInterval(timer);
    document.querySelector("#go").click();
  }, 1000);
  wait.hidden = false; // without this script nothing opens by itself
  document.querySelector("#stay").hidden = false;
  document.querySelector("#stay").addEventListener("click", stop);
  addEventListener("keydown", stop, { once: true });
}
