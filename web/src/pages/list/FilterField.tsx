import { type KeyboardEvent, useEffect, useState } from "react";
import { Icon } from "../../components/Icon";
import type { Refusal } from "../../api/client";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";

/** One field for words and selectors. What is typed stays, also when the server does not understand it. */
export function FilterField({ kind, value, wrong, count, more, onChange }: {
  kind: Kind; value: string; wrong: Refusal | undefined; count: number; more: boolean; onChange: (value: string) => void;
}) {
  const say = useSay();
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return undefined;
    const timer = setTimeout(() => onChange(typed), 300);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Enter") onChange(typed);
    if (event.key === "Escape") {
      if (typed !== "") { setTyped(""); onChange(""); } else event.currentTarget.blur();
    }
  };
  const said = wrong?.problem.errors?.map((each) => each.message).join("; ") ?? wrong?.message;
  return (
    <div className="filter">
      <div className={wrong ? "field wrong" : "field"}>
        <Icon name="search" size={14} />
        <input
          data-filter value={typed} placeholder={say("list.filter")} aria-label={say("list.filterLabel", { kind: say(`kind.${kind.plural}`) })} spellCheck={false} autoComplete="off"
          aria-invalid={wrong !== undefined} aria-describedby="filter-said" onChange={(event) => setTyped(event.target.value)} onKeyDown={press}
        />
        <span className="dim small nowrap">{say(more ? "list.more" : "list.total", { shown: count, total: count })}</span>
      </div>
      {wrong && <p id="filter-said" className="small bad" lang="en">{said}</p>}
    </div>
  );
}
