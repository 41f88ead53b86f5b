// The theme: the reader's choice, or what the system has; the button #theme goes to the other one.
const system = matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = null;
const themeOf = () => chosenTheme ?? (system.matches ? "dark" : "light");

function showTheme() {
  document.documentElement.style.colorScheme = chosenTheme ?? "";
  document.getElementById("theme").textContent = themeOf() === "dark" ? "☀ light" : "☾ dark";
}

// changed(): after each change, the first time included.
function followTheme(changed = () => {}) {
  const show = () => { showTheme(); changed(); };
  document.getElementById("theme").onclick = () => { chosenTheme = themeOf() === "dark" ? "light" : "dark"; show(); };
  system.onchange = show;
  show();
}
