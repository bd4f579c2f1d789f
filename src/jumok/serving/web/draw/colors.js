// One scale for weights (none to all), one for signed numbers, and a colour for each head.

export const headColors = ["#4c6ef5", "#e8590c", "#2f9e44", "#ae3ec9", "#d6336c", "#0c8599", "#b08900", "#6741d9",
  "#1971c2", "#c92a2a", "#5c940d", "#862e9c", "#a61e4d", "#087f5b", "#e67700", "#364fc7"];

const isDark = () => document.documentElement.dataset.theme === "dark"
  || (document.documentElement.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);

const light = [[246, 247, 252], [159, 175, 230], [52, 67, 160], [22, 29, 87]];
const dark = [[26, 29, 40], [58, 72, 148], [130, 150, 255], [224, 230, 255]];
const warm = { light: [[246, 247, 252], [224, 120, 60], [140, 40, 0]], dark: [[26, 29, 40], [170, 84, 40], [255, 190, 140]] };

export function weightColor(value) {
  return mix(isDark() ? dark : light, Math.max(0, Math.min(1, value)) ** 0.7);
}

// Of what is written on a weight's colour.
export const inkOn = (value) => (value > 0.37 ? "var(--card)" : "var(--ink)");

// From −1 (orange) over 0 (paper) to 1 (blue).
export function signedColor(value) {
  const size = Math.max(-1, Math.min(1, value));
  if (Number.isNaN(size)) return "transparent";
  const scale = size < 0 ? (isDark() ? warm.dark : warm.light) : (isDark() ? dark : light);
  return mix(scale, Math.abs(size) ** 0.8);
}

function mix(stops, place) {
  const at = place * (stops.length - 1), i = Math.min(Math.floor(at), stops.length - 2), part = at - i;
  const [r, g, b] = stops[i].map((low, channel) => Math.round(low + (stops[i + 1][channel] - low) * part));
  return `rgb(${r} ${g} ${b})`;
}
