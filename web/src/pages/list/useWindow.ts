import { type RefObject, useEffect, useMemo, useState } from "react";
import { offsets, type Piece, pieces } from "./window";

/** Below so many rows all are in the page. */
const whole = 100;

export interface Window {
  pieces: readonly Piece[];
  rest: number;
  from: number;
  until: number;
  starts: readonly number[];
}

/** Which rows are in the page, as it is scrolled now. It is asked once a frame at most, and only answers when other rows are in sight. */
export function useWindow(heights: readonly number[], body: RefObject<HTMLElement | null>, focused: number): Window {
  const [place, setPlace] = useState({ top: 0, bottom: 1200 });
  const starts = useMemo(() => offsets(heights), [heights]);
  useEffect(() => {
    const content = document.getElementById("content");
    if (!content) return undefined;
    let frame = 0;
    const look = () => {
      frame = 0;
      const top = Math.max(0, content.getBoundingClientRect().top - (body.current?.getBoundingClientRect().top ?? 0));
      // Steps of a few rows: a pixel of scrolling renders nothing.
      const step = 128;
      const next = { top: Math.floor(top / step) * step, bottom: Math.ceil((top + content.clientHeight) / step) * step };
      setPlace((before) => (before.top === next.top && before.bottom === next.bottom ? before : next));
    };
    const ask = () => { frame ||= requestAnimationFrame(look); };
    look();
    content.addEventListener("scroll", ask, { passive: true });
    window.addEventListener("resize", ask);
    return () => {
      cancelAnimationFrame(frame);
      content.removeEventListener("scroll", ask);
      window.removeEventListener("resize", ask);
    };
  }, [body]);
  const { top, bottom } = heights.length > whole ? place : { top: 0, bottom: Number.MAX_SAFE_INTEGER };
  return useMemo(() => {
    const shown = pieces(starts, top, bottom, focused);
    return { ...shown, from: shown.pieces[0]?.index ?? 0, until: shown.pieces.at(-1)?.index ?? 0, starts };
  }, [starts, top, bottom, focused]);
}
