// Pictures are drawn anew when the state changes: who walks through them by keyboard stays where they were.

const CAN_HAVE_FOCUS = "a[href], button, input, select, textarea, summary, [tabindex]";

// Notes where the focus is inside of `root`; the function that it gives puts it back if the drawing took it away.
export function keepFocus(root) {
  const focused = document.activeElement;
  if (!root.contains(focused) || focused === root) return () => {};
  const name = nameOf(focused), all = list(root);
  const place = all.indexOf(focused), among = all.filter((one) => nameOf(one) === name).indexOf(focused);
  return () => {
    if (document.activeElement !== document.body) return;
    const now = list(root), alike = now.filter((one) => nameOf(one) === name);
    (alike[among] ?? alike[0] ?? now[place])?.focus({ preventScroll: true });
  };
}

const list = (root) => [...root.querySelectorAll(CAN_HAVE_FOCUS)];
const nameOf = (element) => element.dataset.switch ?? `${element.tagName} ${element.getAttribute("aria-label") ?? element.textContent}`;
