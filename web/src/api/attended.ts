/** For how long after a sign of a person the page asks on their behalf, in milliseconds. Whatever it asks for later it asks by itself. */
const attention = 60_000;
/** What only a person does. A pointer can also seem to move when the page does. */
const signs = ["keydown", "pointerdown", "wheel"] as const;

/** Whoever opens the page is there. */
let seen = Date.now();

/** Looks for signs of a person from now on. */
export function attend(page: Window): void {
  const see = () => { seen = Date.now(); };
  for (const sign of signs) page.addEventListener(sign, see, { capture: true, passive: true });
  page.document.addEventListener("visibilitychange", () => { if (page.document.visibilityState === "visible") see(); });
}

/** Whether somebody is there. The session of a page that nobody uses ends, however much it asks for. */
export function isAttended(): boolean {
  return Date.now() - seen < attention;
}
