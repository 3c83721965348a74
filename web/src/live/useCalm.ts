import { useEffect, useRef, useState } from "react";

/** A value that changes at once after a while of quiet, and else so often at most. */
export function useCalm<T>(value: T, every: number): T {
  const [shown, setShown] = useState(value);
  const latest = useRef(value);
  const since = useRef(0);
  latest.current = value;
  useEffect(() => {
    if (shown === value) return undefined;
    const timer = setTimeout(() => { since.current = performance.now(); setShown(latest.current); }, Math.max(0, since.current + every - performance.now()));
    return () => clearTimeout(timer);
  }, [value, shown, every]);
  return shown;
}
