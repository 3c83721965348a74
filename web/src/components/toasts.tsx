import { useEffect, useSyncExternalStore } from "react";
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

/** Tells a result. A success leaves by itself; a failure stays until it is dismissed. */
export function tell(text: string, failed = false, undo?: () => void): void {
  const toast: Toast = { id: ++last, text, failed };
  if (undo) toast.undo = undo;
  change([...toasts, toast].slice(-3));
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
  useEffect(() => {
    if (toast.failed) return undefined;
    const timer = setTimeout(() => dismiss(toast.id), 6000);
    return () => clearTimeout(timer);
  }, [toast]);
  const { undo } = toast;
  return (
    <div className="toast">
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
