// Colours: of Okabe and Ito's palette, which people who are colour-blind can tell apart.

export const KINDS = [
  { name: "computing", light: "#dfe3e8", dark: "#3a4048" },
  { name: "messages", light: "#0072b2", dark: "#3a9bd9" },
  { name: "collective calls", light: "#e69f00", dark: "#f0b429" },
  { name: "one-sided", light: "#cc79a7", dark: "#d992bb" },
  { name: "files", light: "#009e73", dark: "#26b68b" },
  { name: "other MPI calls", light: "#8a8f98", dark: "#9aa0a8" },
];
const OTHERS = {
  unknown: { light: "#ffffff", dark: "#15181c" },
  wait: { light: "#d55e00", dark: "#ff8533" },
  path: { light: "#111111", dark: "#ffffff" },
  message: { light: "#333b44", dark: "#e6e9ed" },
  text: { light: "#1b1f24", dark: "#e6e9ed" },
  faint: { light: "#5b626c", dark: "#808791" },
  line: { light: "#c4c9d0", dark: "#434a53" },
  loop: { light: "#6b4fa0", dark: "#b39ddb" },
  domino: { light: "#a0185a", dark: "#ff9ac8" },
  selected: { light: "#f0e442", dark: "#f0e442" },
};

const prefers = matchMedia("(prefers-color-scheme: dark)");
let dark = prefers.matches;

/** Whether the page is dark: asked for each point that is drawn, so it is kept. */
export const isDark = () => dark;
export function noteTheme() {
  const chosen = document.documentElement.dataset.theme;
  dark = chosen ? chosen === "dark" : prefers.matches;
}

const shade = () => (dark ? "dark" : "light");
export const kindColor = (kind) => KINDS[kind][shade()];
export const color = (name) => OTHERS[name][shade()];

/** [r, g, b] of "#rrggbb" */
export function rgb(hex) {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

/** Black or white, whichever can be read on it. */
export function inkOn(hex) {
  const [r, g, b] = rgb(hex).map((part) => (part / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.25 ? "#111111" : "#ffffff";
}
