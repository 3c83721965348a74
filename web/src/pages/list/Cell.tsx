import { type ReactNode, useEffect, useRef } from "react";
import { useLanguage } from "../../i18n";
import { useAge } from "../../live/clock";
import { clock } from "../../status/age";

/** A cell flashes so often at most, and so long, in milliseconds. */
const every = 2000;
const long = 1200;

/** Tints an element for a moment. Without motion the tint does not fade, it ends. */
export function tint(element: Element): void {
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const to = getComputedStyle(element).backgroundColor;
  element.animate([{ backgroundColor: "var(--accent-bg)" }, { backgroundColor: to }], { duration: long, easing: still ? "steps(1, end)" : "ease-out" });
}

const restarted = /^(\d+) \(.+ ago\)$/;

/** How often a pod was restarted, from a cell that also says how long ago; undefined of another one. */
export function restartsIn(cell: unknown): string | undefined {
  return typeof cell === "string" ? restarted.exec(cell)?.[1] : undefined;
}

/** What a cell is compared by: a restart that is longer ago than before is no news. */
export function newsOf(cell: unknown): unknown {
  return restartsIn(cell) ?? cell;
}

/** A cell that flashes when what it says has changed. What is quiet never does: ages and usage. */
export function Cell({ name, value, quiet, className, children }: { name: string; value: unknown; quiet: boolean; className: string | undefined; children: ReactNode }) {
  const cell = useRef<HTMLTableCellElement>(null);
  const before = useRef({ value, at: -every });
  useEffect(() => {
    if (newsOf(before.current.value) === newsOf(value)) return;
    const now = performance.now();
    const due = now - before.current.at >= every;
    before.current = { value, at: due ? now : before.current.at };
    if (due && !quiet && cell.current) tint(cell.current);
  }, [value, quiet]);
  return <td ref={cell} className={className} data-label={name}>{children}</td>;
}

/** An age as kubectl prints it, which goes on; the full time is in its tooltip. */
export function Age({ since }: { since: string | null | undefined }) {
  const { language } = useLanguage();
  const text = useAge(since);
  return <span title={since ? clock(since, language, 0) : undefined}>{text}</span>;
}

/** How often a pod was restarted, and how long ago last, which goes on as its age does. */
export function Restarts({ count, since }: { count: string; since: string }) {
  return <>{count} (<Age since={since} /> ago)</>;
}
