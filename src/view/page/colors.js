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
  faint: { light: "#8a919b", dark: "#808791" },
  line: { light: "#c4c9d0", dark: "#434a53" },
  loop: { light: "#6b4fa0", dark: "#b39ddb" },
  domino: { light: "#a0185a", dark: "#ff9ac8" },
  selected: { light: "#f0e442", dark: "#f0e442" },
};

export const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

const shade = () => (isDark() ? "dark" : "light");
export const kindColor = (kind) => KINDS[kind][shade()];
export const color = (name) => OTHERS[name][shade()];

/** [r, g, b] of "#rrggbb" */
export function rgb(hex) {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}
