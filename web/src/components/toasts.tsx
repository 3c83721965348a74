import { Suspense, useEffect, useState, useSyncExternalStore } from "react";
import { type Say, useSay } from "../i18n";
import { Shape } from "../status/shapes";
import { announce } from "./announce";
import { Icon } from "./Icon";
import { Boundary, later, Missing, Reload } from "./later";

const Reason = later(async () => (await import("./Reason")).Reason);

interface Toast {
  id: number;
  text: string;
  failed: boolean;
  undo?: () => void;
  /** Why it failed, in the server's words. */
  error?: Error;
  /** A part of the console did not arrive. */
  missing?: true;
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

function show(toast: Omit<Toast, "id">): void {
  change(kept([...toasts, { id: ++last, ...toast }]));
  announce(toast.text);
}

/** Tells a result, which can perhaps be taken back. It leaves by itself. */
export function tell(text: string, undo?: () => void): void {
  show(undo ? { text, failed: false, undo } : { text, failed: false });
}

/** Tells a failure, with its reason where there is more to say. It stays until it is dismissed. */
export function tellFailure(text: string, error?: Error): void {
  show(error ? { text, failed: true, error } : { text, failed: true });
}

/** Tells that a part of the console did not arrive, or that it has failed. */
export function tellBroken(say: Say, error: unknown): void {
  if (!(error instanceof Missing)) tellFailure(say("failed.title"), error instanceof Error ? error : new Error(String(error)));
  else if (!toasts.some((toast) => toast.missing)) show({ text: say("missing.title"), failed: true, missing: true });
}

function dismiss(id: number): void {
  change(toasts.filter((toast) => toast.id !== id));
}

function subscribe(call: () => void): () => void {
  calls.add(call);
  return () => calls.delete(call);
}

function One({ toast, onReason }: { toast: Toast; onReason: (error: Error) => void }) {
  const say = useSay();
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  const held = pointed || focused;
  useEffect(() => {
    if (toast.failed || held) return undefined;
    const timer = setTimeout(() => dismiss(toast.id), 6000);
    return () => clearTimeout(timer);
  }, [toast, held]);
  const { undo, error } = toast;
  return (
    <div className="toast" onPointerEnter={() => setPointed(true)} onPointerLeave={() => setPointed(false)} onFocus={() => setFocused(true)} onBlur={() => setFocused(false)}>
      <Shape name={toast.failed ? "stalled" : "ready"} />
      <span>{toast.text}</span>
      {undo && <button type="button" className="btn quiet" onClick={() => { dismiss(toast.id); undo(); }}>{say("action.undo")}</button>}
      {error && <button type="button" className="btn quiet" aria-haspopup="dialog" onClick={() => onReason(error)}>{say("action.reason")}</button>}
      {toast.missing && <Reload quiet />}
      <button type="button" className="btn quiet icon" aria-label={say("action.dismiss")} onClick={() => dismiss(toast.id)}><Icon name="close" size={14} /></button>
    </div>
  );
}

/** The toasts. They are said by the announcer; aria-live keeps a dialog from hiding them from those who listen and from the keyboard. */
export function Toasts() {
  const say = useSay();
  const shown = useSyncExternalStore(subscribe, () => toasts);
  const [reason, setReason] = useState<Error>();
  return (
    <>
      <div className="toasts" aria-live="off">{shown.map((toast) => <One key={toast.id} toast={toast} onReason={setReason} />)}</div>
      {reason && <Boundary failed={() => null} onFail={(error) => { tellBroken(say, error); setReason(undefined); }}><Suspense fallback={null}><Reason error={reason} onClose={() => setReason(undefined)} /></Suspense></Boundary>}
    </>
  );
}
