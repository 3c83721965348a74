/** Colours of tokens as a canvas takes them: light-dark() is resolved by an element that has the colour. */
export function coloursOf<T extends string>(...tokens: readonly T[]): Record<T, string> {
  const probe = document.createElement("span");
  document.body.append(probe);
  const out: { [K in T]?: string } = {};
  for (const token of tokens) {
    probe.style.color = `var(--${token})`;
    out[token] = getComputedStyle(probe).color;
  }
  probe.remove();
  return out as Record<T, string>;
}

/** Calls when the theme changes, by the button or by the system. */
export function whenThemeChanges(call: () => void): () => void {
  const watcher = new MutationObserver(call);
  watcher.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", call);
  return () => {
    watcher.disconnect();
    system.removeEventListener("change", call);
  };
}
