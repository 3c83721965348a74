import { useEffect, useState } from "react";

/** A value once it has been the same for so long: what the server is asked about after the last key. */
export function useLater<T>(value: T, wait = 400): T {
  const [later, setLater] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLater(() => value), wait);
    return () => clearTimeout(timer);
  }, [value, wait]);
  return later;
}
