import { useEffect, useState, useSyncExternalStore } from "react";
import { useSay } from "../i18n";
import { Shape } from "../status/shapes";
import { announce } from "./announce";
import { Icon } from "./Icon";

interface Toast {
  id: number;
  text: string;
  failed: boolean;
  undo?: () => void;
}

let toasts: readonly Toast[] = [];
let last = 0;
const calls = new Set<() => void>();

function change(to: readonly Toast[]): void {
  toasts = to;
  for (const call of calls) call();
}

/** At most so many are there: the oldest leaves, and a failure only where all are failures. */
const most = 3;

export function kept<T extends { failed: boolean }>(all: readonly T[]): T[] {
  const out = [...all];
  while (out.length > most) out.splice(Math.max(0, out.findIndex((toast) => !toast.failed)), 1);
  return out;
}

/** Tells a result. A success leaves by itself; a failure stays until it is dismissed. */
export function tell(text: string, failed = false, undo?: () => void): void {
  const toast: Toast = { id: ++last, text, failed };
  if (undo) toast.undo = undo;
  change(kept([...toasts, toast]));
  announce(text);
}

function dismiss(id: number): void {
  change(toasts.filter((toast) => toast.id !== id));
}

function subscribe(call: () => void): () => void {
  calls.add(call);
  return () => calls.delete(call);
}

function One({ toast }: { toast: Toast }) {
  const say = useSay();
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  const held = pointed || focused;
  useEffect(() => {
    if (toast.failed || held) return undefined;
    const timer = setTimeout(() => dismiss(toast.id), 6000);
    return () => clearTimeout(timer);
  }, [toast, held]);
  const { undo } = toast;
  return (
    <div className="toast" onPointerEnter={() => setPointed(true)} onPointerLeave={() => setPointed(false)} onFocus={() => setFocused(true)} onBlur={() => setFocused(false)}>
      <Shape name={toast.failed ? "stalled" : "ready"} />
      <span>{toast.text}</span>
      {undo && <button type="button" className="btn quiet" onClick={() => { dismiss(toast.id); undo(); }}>{say("action.undo")}</button>}
      <button type="button" className="btn quiet icon" aria-label={say("action.dismiss")} onClick={() => dismiss(toast.id)}><Icon name="close" size={14} /></button>
    </div>
  );
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return <div className="toasts">{shown.map((toast) => <One key={toast.id} toast={toast} />)}</div>;
}
