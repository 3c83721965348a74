import { Component, lazy, type LazyExoticComponent, type ReactNode, Suspense, useState } from "react";
import { useSay } from "../i18n";
import { Icon } from "./Icon";

/** A part of the console that did not arrive: the network is cut, or the server has another version of the console by now. */
export class Missing extends Error {}

/** Loads a part of the console. */
export async function arrives<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    // With a message of its own: the router loads the page anew for those of the browsers.
    throw new Missing("part of the console did not load", { cause });
  }
}

/** A component that is loaded when it is first shown. Around it stands Later or Layer, which says so if it does not arrive. */
export function later<P extends object>(load: () => Promise<(props: P) => ReactNode>): LazyExoticComponent<(props: P) => ReactNode> {
  return lazy(async () => ({ default: await arrives(load) }));
}

/** Keeps what fails inside of it from taking the page away. */
export class Boundary extends Component<{ failed: (error: unknown) => ReactNode; onFail?: (error: unknown) => void; children: ReactNode }, { caught?: { error: unknown } }> {
  override state: { caught?: { error: unknown } } = {};

  static getDerivedStateFromError(error: unknown): { caught: { error: unknown } } {
    return { caught: { error } };
  }

  override componentDidCatch(error: unknown): void {
    this.props.onFail?.(error);
  }

  override render(): ReactNode {
    return this.state.caught ? this.props.failed(this.state.caught.error) : this.props.children;
  }
}

/** Loads the page anew, once the server answers: without it the browser would replace the page by one of its own. */
export function Reload({ quiet }: { quiet?: boolean }) {
  const say = useSay();
  const [busy, setBusy] = useState(false);
  const [silent, setSilent] = useState(false);
  const reload = async () => {
    setBusy(true);
    setSilent(false);
    // Any answer will do, also that somebody has to sign in.
    const answers = await fetch("/", { method: "HEAD", cache: "no-store" }).then(() => true, () => false);
    setBusy(false);
    if (answers) window.location.reload();
    else setSilent(true);
  };
  return (
    <>
      <button type="button" className={quiet ? "btn quiet" : "btn"} aria-disabled={busy} onClick={() => { if (!busy) void reload(); }}>{busy && <span className="arc" aria-hidden="true" />}{say("missing.reload")}</button>
      {silent && <span className="small dim" role="status">{say("missing.silent")}</span>}
    </>
  );
}

/** What stands where a part did not arrive, or has failed. */
export function Failed({ error }: { error: unknown }) {
  const say = useSay();
  const missing = error instanceof Missing;
  return (
    <div className="reasonbox stalled" role="alert">
      <span><Icon name="close" size={14} /></span>
      <div>
        <div className="strong">{say(missing ? "missing.title" : "failed.title")}</div>
        <div>{say(missing ? "missing.why" : "failed.why")}</div>
        {!missing && <div lang="en" className="reason">{error instanceof Error ? error.message : String(error)}</div>}
      </div>
      <div className="row"><Reload /></div>
    </div>
  );
}

/** The same where there is only room for a button. */
function FailedShort() {
  const say = useSay();
  return <span className="row" title={say("missing.why")}><span className="small dim">{say("missing.title")}</span><Reload quiet /></span>;
}

/** A part of a page that is loaded when it is shown. */
export function Later({ fallback = null, short, children }: { fallback?: ReactNode; short?: boolean; children: ReactNode }) {
  return <Boundary failed={(error) => (short ? <FailedShort /> : <Failed error={error} />)}><Suspense fallback={fallback}>{children}</Suspense></Boundary>;
}
