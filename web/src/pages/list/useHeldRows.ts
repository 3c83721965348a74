import { useCallback, useMemo } from "react";
import type { KubeObject } from "../../api/types";
import { useHeld } from "../../live/hooks";
import type { TableRow } from "./Row";

interface Page { rows: readonly TableRow[] }

function uidOf({ object }: TableRow): string {
  const { uid = "" }: KubeObject["metadata"] = object.metadata;
  return uid;
}

/**
 * The pages that are shown while a list is held: those that were there when the reader came, and behind them, as they are, those that the
 * reader has scrolled to since then. A row that has moved over from a page that is shown is not there twice.
 */
export function grown<P extends Page>(shown: readonly P[] | undefined, now: readonly P[] | undefined): readonly P[] | undefined {
  if (!shown || !now || shown.every((page, at) => page === now[at])) return now;
  if (now.length <= shown.length) return shown;
  const there = new Set(shown.flatMap((page) => page.rows.map(uidOf)));
  const further = now.slice(shown.length).map((page) => (page.rows.some((row) => there.has(uidOf(row))) ? { ...page, rows: page.rows.filter((row) => !there.has(uidOf(row))) } : page));
  return [...shown, ...further];
}

/**
 * The rows of a list. While it is held, rows neither come nor go; the cells of those that are shown are the newest. of is what the pages
 * answer, as in useHeld.
 */
export function useHeldRows<P extends Page>(pages: readonly P[] | undefined, held: boolean, of: string) {
  const { shown, stale, show } = useHeld(pages, held, of, grown<P>);
  const kept = useMemo(() => shown?.flatMap((page) => page.rows) ?? [], [shown]);
  // Only where it is asked for: a list can have ten thousand rows, and comes anew each second.
  const newest = useMemo(() => (stale ? new Map(pages?.flatMap((page) => page.rows.map((row) => [uidOf(row), row] as const))) : undefined), [stale, pages]);
  const rows = useMemo(() => (newest ? kept.map((row) => newest.get(uidOf(row)) ?? row) : kept), [kept, newest]);
  const moved = useMemo(() => {
    if (!newest) return { added: 0, gone: 0 };
    const gone = kept.reduce((sum, row) => sum + Number(!newest.has(uidOf(row))), 0);
    return { added: newest.size - (kept.length - gone), gone };
  }, [kept, newest]);
  const isGone = useCallback((uid: string | undefined) => newest !== undefined && !newest.has(uid ?? ""), [newest]);
  return { first: shown?.[0], rows, moved, isGone, show };
}
