import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useDeferredValue, useState } from "react";
import { query, read } from "../api/client";
import type { Schemas } from "../api/types";
import { Icon, isIcon } from "../components/Icon";
import { useSay } from "../i18n";
import { kindOf, kinds, pageOf } from "../kinds/registry";
import { Shape } from "../status/shapes";

interface Entry {
  to: string;
  name: string;
  about: string;
  mark: "ready" | "reconciling" | "stalled" | string;
}

const marks = { ready: "ready", pending: "reconciling", failed: "stalled" } as const;

/** Search over everything. The arrows choose, Enter opens, and what was typed is forgotten when it closes. */
export function Palette({ onClose }: { onClose: () => void }) {
  const say = useSay();
  const navigate = useNavigate();
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
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
  const all = [...objects, ...pages];
  const chosen = Math.min(at, all.length - 1);

  const go = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    void navigate({ to: entry.to });
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, all.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(chosen - 1, 0));
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) window.open(all[chosen]?.to, "_blank", "noopener");
    else if (event.key === "Enter") go(all[chosen]);
    else return;
    event.preventDefault();
  };
  const list = (entries: Entry[], from: number) => entries.map((entry, index) => (
    <div key={entry.to} id={`found-${from + index}`} role="option" tabIndex={-1} aria-selected={from + index === chosen} className="entry"
      onClick={() => go(entry)} onKeyDown={press} onPointerMove={() => setAt(from + index)}>
      {entry.mark === "ready" || entry.mark === "reconciling" || entry.mark === "stalled" ? <Shape name={entry.mark} /> : isIcon(entry.mark) && <Icon name={entry.mark} />}
      <span className="strong">{entry.name}</span><span className="dim">{entry.about}</span>
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
              aria-activedescendant={chosen >= 0 ? `found-${chosen}` : undefined} onChange={(event) => { setWords(event.target.value); setAt(0); }} onKeyDown={press}
            />
          </div>
          <div id="found" role="listbox" aria-label={say("palette.label")} className="found">
            {objects.length > 0 && <div role="group" aria-label={say("palette.goto")}><h3>{say("palette.goto")}</h3>{list(objects, 0)}</div>}
            {pages.length > 0 && <div role="group" aria-label={say("palette.pages")}><h3>{say("palette.pages")}</h3>{list(pages, objects.length)}</div>}
          </div>
          {all.length === 0 && !found.isFetching && <p className="nothing">{say("palette.none")}</p>}
          <footer>
            <span><kbd>↑</kbd> <kbd>↓</kbd> {say("palette.choose")}</span><span><kbd>Enter</kbd> {say("palette.open")}</span><span><kbd>Esc</kbd> {say("palette.close")}</span>
          </footer>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
