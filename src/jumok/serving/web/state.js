// The address keeps the state, so that a view can be sent to somebody: #view=heads&text=…&layer=2

export function readState() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

export function writeState(state, isNewPlace) {
  const known = Object.entries(state).filter(([key, value]) => value !== undefined && value !== null && (value !== "" || key === "text"));
  const address = `#${new URLSearchParams(known.map(([key, value]) => [key, String(value)]))}`;
  if (address === location.hash) return;
  if (isNewPlace) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

// A place in a list out of the address: a whole number from `least` to `most`, whatever stands there.
export function place(value, initial, most, least = 0) {
  const number = Math.trunc(Number(value ?? initial));
  return Math.max(least, Math.min(most, Number.isFinite(number) ? number : initial));
}
