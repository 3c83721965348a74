import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, useDeferredValue, useEffect, useRef, useState } from "react";
import type { Target } from "../actions/commands";
import { type Deed, deedsOf } from "../actions/list";
import { targetOf } from "../actions/useOrder";
import { query, read } from "../api/client";
import type { KubeObject, Schemas } from "../api/types";
import { Icon, isIcon } from "../components/Icon";
import { isComposed } from "../components/letters";
import { Failure } from "../components/parts";
import { type Say, useSay } from "../i18n";
import { type Kind, kindOf, kinds, pageOf } from "../kinds/registry";
import { store } from "../live/store";
import { sized, sizeKey, wantSize } from "../pages/parts/sizing";
import { Shape } from "../status/shapes";
import { answerOf } from "./answer";

interface Entry {
  to: string;
  /** What of the list it opens; of an object nothing. */
  search?: { q: string };
  /** What it does, where it does something: asked for first. */
  deed?: { deed: Deed; target: Target };
  /** The object whose size it changes, with the stepper on its page. */
  size?: string;
  name: string;
  about: string;
  mark: "ready" | "reconciling" | "stalled" | string;
}

const marks = { ready: "ready", pending: "reconciling", failed: "stalled" } as const;

/** What has a stepper on its page: not what has an owner that sets the size. */
function scaling({ plural }: Kind, { metadata }: KubeObject & { metadata: { ownerReferences?: readonly { controller?: boolean }[] } }): string[] {
  const owned = metadata.ownerReferences?.some((owner) => owner.controller === true) === true;
  return sized.includes(plural) && !owned ? [sizeKey(plural, metadata.namespace, metadata.name ?? "")] : [];
}

/** What can be done with the first objects that were found, from what the page knows of them. */
function doing(items: readonly Schemas["FoundItem"][], say: Say): Entry[] {
  return items.slice(0, 3).flatMap((item): Entry[] => {
    const kind = kindOf(item.kind);
    const object: KubeObject | undefined = kind && store.get(kind.plural, item.namespace, item.name);
    if (!kind || !object) return [];
    const target = targetOf(kind, object);
    const to = pageOf(kind.plural, item.namespace, item.name);
    const of = (action: string) => ({ to, name: `${action} ${kind.kind} ${item.namespace ? `${item.namespace}/` : ""}${item.name}`, about: "", mark: kind.plural });
    return [
      ...scaling(kind, object).map((size) => ({ ...of(say("action.scale")), size })),
      ...deedsOf(target, object).filter((deed) => !deed.danger).slice(0, 2).map((deed) => ({ ...of(say(deed.key)), deed: { deed, target } })),
    ];
  }).slice(0, 4);
}

/** Search over everything. The arrows choose, Enter opens, and what was typed is forgotten when it closes. */
export function Palette({ onDeed, onClose }: { onDeed: (deed: Deed, target: Target) => void; onClose: () => void }) {
  const say = useSay();
  const navigate = useNavigate();
  const router = useRouter();
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const [stepped, setStepped] = useState(false);
  const [pressed, setPressed] = useState<"here" | "tab">();
  const wanted = useDeferredValue(words.trim());
  const found = useQuery<Schemas["Found"]>({
    queryKey: ["search", wanted], enabled: wanted !== "", staleTime: 5000, placeholderData: (before) => before,
    queryFn: ({ signal }) => read(`/v1/search${query({ q: wanted, limit: 12 })}`, { signal }),
  });

  const pages: Entry[] = [{ to: "/", name: say("nav.overview"), about: "", mark: "overview" }, ...kinds.map((kind) => (
    { to: `/${kind.plural}`, name: say(`kind.${kind.plural}`), about: kind.kind, mark: kind.plural }
  ))].filter((page) => wanted === "" || `${page.name} ${page.about}`.toLowerCase().includes(wanted.toLowerCase()));
  const objects: Entry[] = wanted === "" ? [] : (found.data?.items ?? []).map((item) => ({
    to: pageOf(item.kind, item.namespace, item.name), name: item.namespace ? `${item.namespace}/${item.name}` : item.name,
    about: [kindOf(item.kind)?.kind ?? item.kind, item.reason].filter(Boolean).join(", "), mark: marks[item.state],
  }));
  const does = wanted === "" ? [] : doing(found.data?.items ?? [], say);
  const filters: Entry[] = wanted === "" ? [] : [...new Set((found.data?.items ?? []).map((item) => item.kind))].slice(0, 3).map((plural) => (
    { to: `/${plural}`, search: { q: wanted }, name: say("palette.filter", { kind: kindOf(plural) ? say(`kind.${kindOf(plural)?.plural ?? "nodes"}`) : plural, words: wanted }), about: "", mark: "search" }
  ));
  const all = [...objects, ...does, ...filters, ...pages];
  const chosen = Math.min(at, all.length - 1);

  const go = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    if (entry.size) wantSize(entry.size);
    if (entry.deed) onDeed(entry.deed.deed, entry.deed.target);
    else void navigate({ to: entry.to, search: ({ ns }) => ({ ns, ...entry.search }) });
  };
  const hrefOf = (entry: Entry | undefined) => entry && router.buildLocation({ to: entry.to, search: ({ ns }) => ({ ns, ...entry.search }) }).href;
  const answer = answerOf(words, wanted, found, all.length > 0);
  const enter = (entry: Entry | undefined, where: "here" | "tab") => {
    if (where === "here") go(entry);
    else if (entry) window.open(hrefOf(entry), "_blank", "noopener");
  };
  const step = (to: number) => { setAt(to); setStepped(true); setPressed(undefined); };
  const press = (event: KeyboardEvent) => {
    if (isComposed(event.nativeEvent)) return;
    const where = event.ctrlKey || event.metaKey ? "tab" : "here";
    if (event.key === "ArrowDown") step(Math.min(chosen + 1, all.length - 1));
    else if (event.key === "ArrowUp") step(Math.max(chosen - 1, 0));
    else if (event.key !== "Enter") return;
    // What earlier words have found is for those who choose it.
    else if (answer === "pending" && !stepped) setPressed(where);
    else enter(all[chosen], where);
    event.preventDefault();
  };
  const first = useRef<(where: "here" | "tab") => void>(undefined);
  first.current = (where) => enter(all[0], where);
  // Enter waits for what the words find, unless somebody types on.
  useEffect(() => {
    if (!pressed || answer === "pending") return;
    setPressed(undefined);
    if (answer === "there") first.current?.(pressed);
  }, [pressed, answer]);
  const list = (entries: Entry[], from: number) => entries.map((entry, index) => (
    <div key={`${entry.to} ${entry.name}`} id={`found-${from + index}`} role="option" tabIndex={-1} aria-selected={from + index === chosen} className="entry"
      onClick={() => go(entry)} onKeyDown={press} onPointerMove={() => setAt(from + index)}>
      {entry.mark === "ready" || entry.mark === "reconciling" || entry.mark === "stalled" ? <Shape name={entry.mark} /> : isIcon(entry.mark) && <Icon name={entry.mark} />}
      <span className={entry.deed || entry.size || entry.search ? undefined : "strong"}>{entry.name}</span><span className="dim grow">{entry.about}</span>{from + index === chosen && <kbd>Enter</kbd>}
    </div>
  ));

  return (
    <Dialog.Root open onOpenChange={(open) => { if (!open) onClose(); }}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className="palette" aria-label={say("palette.label")}>
          <div className="q">
            <Icon name="search" />
            <input
              autoFocus value={words} placeholder={say("palette.label")} aria-label={say("palette.label")} role="combobox" aria-expanded="true" aria-controls="found"
              aria-activedescendant={chosen >= 0 ? `found-${chosen}` : undefined} onChange={(event) => { setWords(event.target.value); setAt(0); setStepped(false); setPressed(undefined); }} onKeyDown={press}
            />
          </div>
          <div id="found" role="listbox" aria-label={say("palette.label")} className="found">
            {objects.length > 0 && <div role="group" aria-label={say("palette.goto")}><h3>{say("palette.goto")}</h3>{list(objects, 0)}</div>}
            {does.length > 0 && <div role="group" aria-label={say("palette.do")}><h3>{say("palette.do")}</h3>{list(does, objects.length)}</div>}
            {filters.length > 0 && <div role="group" aria-label={say("palette.filters")}><h3>{say("palette.filters")}</h3>{list(filters, objects.length + does.length)}</div>}
            {pages.length > 0 && <div role="group" aria-label={say("palette.pages")}><h3>{say("palette.pages")}</h3>{list(pages, objects.length + does.length + filters.length)}</div>}
          </div>
          {found.data?.more && objects.length > 0 && <p className="more small dim">{say("palette.more")}</p>}
          {found.error && wanted !== "" && <Failure error={found.error} again={() => void found.refetch()} />}
          {all.length === 0 && !found.isFetching && !found.error && <p className="nothing">{say("palette.none")}</p>}
          <footer>
            <span><kbd>↑</kbd> <kbd>↓</kbd> {say("palette.choose")}</span><span><kbd>Enter</kbd> {say("palette.open")}</span><span><kbd>Ctrl</kbd> <kbd>Enter</kbd> {say("palette.tab")}</span><span><kbd>Esc</kbd> {say("palette.close")}</span>
          </footer>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
