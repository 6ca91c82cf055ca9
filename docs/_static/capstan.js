// Debian 12's Furo has a script that browsers refuse, and no dark colours by the system's choice. Where
// that script has not run, this one chooses the colours and serves the button.
addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement, body = document.body;
  if (!root.classList.contains("no-js")) return;
  root.classList.remove("no-js");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem("theme") || "auto";
  const show = () => {
    body.dataset.theme = chosen() === "auto" ? (dark.matches ? "dark" : "light") : chosen();
  };
  dark.addEventListener("change", show);
  for (const button of document.getElementsByClassName("theme-toggle"))
    button.addEventListener("click", () => {
      localStorage.setItem("theme", body.dataset.theme === "dark" ? "light" : "dark");
      show();
    });
  show();
});
