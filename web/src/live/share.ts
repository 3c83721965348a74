import type { Schemas } from "../api/types";
import type { LinkState, LiveStore, State } from "./store";
import { follow, receive } from "./stream";

type WatchEvent = Schemas["WatchEvent"];

/** What tabs of a browser tell each other. Only the one that has the stream sends anything but a greeting, an answer, and a wish to try again. */
type Message =
  | { type: "hello"; from: string }
  | { type: "who" }
  | { type: "here" }
  | { type: "state"; to: string; state: State; link: LinkState; lost: number }
  | { type: "event"; event: WatchEvent }
  | { type: "link"; link: LinkState; lost: number }
  | { type: "retry" }
  | { type: "out" };

/** By the user: a tab of the one who was signed in before has a stream of theirs for some seconds more, and passes nothing of it on to the next. */
const nameOf = (user: string) => `windlass.stream.${user}`;

/** Tells the tabs of a user that they are signed out: what a tab sends from now on would be sent by the next one to sign in. */
export function tellOut(user: string): void {
  const channel = new BroadcastChannel(nameOf(user));
  const out: Message = { type: "out" };
  channel.postMessage(out);
  channel.close();
}

/**
 * One stream for all tabs of a user in a browser: the tab that holds the lock follows and passes on what it hears, and the next one takes
 * over when it is closed. A browser has few connections to one server, and each tab would take one.
 */
export function shareStream(store: LiveStore, user: string): () => void {
  const me = crypto.randomUUID();
  const name = nameOf(user);
  const channel = new BroadcastChannel(name);
  const post = (message: Message) => channel.postMessage(message);
  const ended = new AbortController();
  /** Tabs that have come while a snapshot was under way: they have missed its beginning. */
  let waiting: string[] = [];
  /** Whether there are other tabs, as far as they have been heard of. A tab that is alone would copy all that there is for nobody. */
  let others = false;
  let leads = false;
  let stop: (() => void) | undefined;

  const welcome = (to: string) => {
    if (store.whole) post({ type: "state", to, state: store.dump(), link: store.link, lost: store.lost });
    else waiting.push(to);
  };

  const lead = () => {
    leads = true;
    post({ type: "who" });
    const stream = follow(store, (event) => {
      if (others) post({ type: "event", event });
      if (event.type !== "complete") return;
      for (const to of waiting) welcome(to);
      waiting = [];
    });
    store.retry = stream.retry;
    const unlink = store.subscribe("link", () => post({ type: "link", link: store.link, lost: store.lost }));
    stop = () => { stream.stop(); unlink(); };
  };

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.type === "hello" || data.type === "here") others = true;
    if (data.type === "out") return store.setLink("expired");
    if (leads) {
      if (data.type === "hello") welcome(data.from);
      else if (data.type === "retry") store.retry();
      return;
    }
    if (data.type === "who") post({ type: "here" });
    else if (data.type === "event") receive(store, data.event);
    else if (data.type === "link") store.setLink(data.link, data.lost);
    else if (data.type === "state" && data.to === me) {
      store.load(data.state);
      store.setLink(data.link, data.lost);
    }
  };
  store.retry = () => post({ type: "retry" });
  post({ type: "hello", from: me });
  // Held for as long as this tab is there.
  const held = () => {
    lead();
    return new Promise<void>((done) => { ended.signal.addEventListener("abort", () => done()); });
  };
  navigator.locks.request(name, { signal: ended.signal }, held).catch(() => undefined); // ended while it waited
  return () => {
    ended.abort();
    stop?.();
    channel.close();
  };
}
