import { Refusal, send } from "../api/client";
import type { Plural, Schemas } from "../api/types";
import { followed, type LiveStore } from "./store";

type WatchEvent = Schemas["WatchEvent"];

const path = `/v1/watch?kinds=${followed.join(",")}&summary=true`;
const names = ["snapshot", "upsert", "delete", "summary", "resync", "denied", "expired", "stale", "fresh", "beat"];
/** How long a stream may be gone before the page says so. */
const patience = 3000;
/** How often a stream says that it lives, and for how many of these a connection may be silent before it is given up: one whose packets vanish does not end. */
const beat = 15_000;
const missed = 3;

function isFollowed(kind: string): kind is Plural {
  return followed.some((known) => known === kind);
}

/** Puts what an event says into the store. */
export function receive(store: LiveStore, event: WatchEvent): void {
  store.hear();
  switch (event.type) {
    case "snapshot":
      store.begin();
      if (isFollowed(event.kind)) store.put(event.kind, event.items);
      return;
    case "complete":
      store.begin();
      store.complete();
      return;
    case "upsert":
      if (isFollowed(event.kind)) store.put(event.kind, [event.object]);
      return;
    case "delete":
      if (isFollowed(event.kind)) store.remove(event.kind, event.namespace, event.name);
      return;
    case "summary":
      store.setCounts(event.kinds, event.hidden);
      return;
    case "resync":
      store.setLink("catching-up");
      store.beginAnew();
      return;
    case "denied":
      store.deny(event.kind, event.namespaces);
      return;
    case "expired":
      store.setLink("expired");
      return;
    case "stale":
      store.setBehind({ since: Date.now(), kinds: event.behind });
      return;
    case "fresh":
      store.setBehind();
      return;
    default:
      return; // a newer server has events that this page does not know
  }
}

/** Whether nobody is signed in any more. A stream that is refused does not say why it was. */
async function signedOut(signal: AbortSignal): Promise<boolean> {
  try {
    await send("/v1/session", { signal });
    return false;
  } catch (cause) {
    return cause instanceof Refusal && cause.problem.status === 401;
  }
}

/**
 * Follows all kinds until it is stopped. A browser reconnects by itself and says what it has seen last; after an answer that ends the
 * stream for good, such as 429, a new one is opened, unless the session has ended meanwhile.
 */
export function follow(store: LiveStore, pass: (event: WatchEvent) => void = () => undefined): { stop: () => void; retry: () => void } {
  let source: EventSource;
  let lost: number | undefined;
  let late: ReturnType<typeof setTimeout> | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let asking: AbortController | undefined;
  let silent: ReturnType<typeof setTimeout> | undefined;

  const end = () => {
    clearTimeout(again);
    clearTimeout(silent);
    asking?.abort();
    source.close();
  };
  const tell = (event: WatchEvent) => {
    receive(store, event);
    pass(event);
  };
  /** Waits for the next sign of life. */
  const listen = () => {
    clearTimeout(silent);
    silent = setTimeout(() => {
      lost ??= store.heard;
      store.setLink("cut", lost);
      end();
      connect();
    }, missed * beat);
  };
  const connect = () => {
    source = new EventSource(path);
    let complete = false;
    listen();
    source.onopen = () => {
      listen();
      clearTimeout(late);
      late = lost = undefined;
      // A stream begins with what is old by now, and says fresh only of what it has called old itself: other tabs are told as well.
      tell({ type: "fresh" });
      // No stream continues a snapshot that was cut, and the server tells only a source that has an id.
      if (!store.whole) tell({ type: "resync" });
      // A stream that resumes gets no snapshot; one that begins is live when its snapshot is complete, also where one of before has filled the store.
      store.setLink(store.whole && complete ? "live" : "catching-up");
    };
    source.onerror = () => {
      const since = (lost ??= Date.now());
      late ??= setTimeout(() => store.setLink("cut", since), patience);
      if (source.readyState === EventSource.CLOSED && store.link !== "expired") again = setTimeout(() => void ask(), 2000);
    };
    for (const name of names) {
      source.addEventListener(name, (message: MessageEvent<string>) => {
        const event: WatchEvent = JSON.parse(message.data);
        listen();
        tell(event);
        if (event.type === "complete") complete = true;
        if (event.type === "expired") end();
      });
    }
  };

  /** Connects again, if somebody is still signed in. */
  const ask = async () => {
    const { signal } = (asking = new AbortController());
    const out = await signedOut(signal);
    if (signal.aborted) return;
    if (!out) return connect();
    clearTimeout(late);
    end();
    tell({ type: "expired" });
  };

  connect();
  return { stop: () => { clearTimeout(late); end(); }, retry: () => { end(); connect(); } };
}
