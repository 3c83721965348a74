import { type KeyboardEvent, useEffect, useState } from "react";
import { Icon } from "../../components/Icon";
import type { Refusal } from "../../api/client";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";
import { type Filter, joined, parse, type Token, tokensOf, without } from "./filter";
import { tooLong } from "./limits";

const hasFlag = /(^|\s)(-l|--selector|--field-selector)(\s|=|$)/;

/**
 * One field for words and selectors, as one would type them for kubectl. Words filter as they are typed; Enter makes selectors tokens. What
 * is typed stays, also when it is wrong.
 */
export function FilterField({ kind, value, wrong, count, onChange }: {
  kind: Kind; value: Filter; wrong: Refusal | undefined; count: string; onChange: (value: Filter) => void;
}) {
  const say = useSay();
  const [typed, setTyped] = useState(value.words);
  useEffect(() => setTyped(value.words), [value.words]);
  const take = () => onChange(joined({ words: "", labels: value.labels, fields: value.fields }, parse(typed)));
  useEffect(() => {
    if (typed === value.words || hasFlag.test(typed)) return undefined;
    const timer = setTimeout(() => onChange({ ...value, words: typed.trim() }), 300);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  const edit = (token: Token) => {
    onChange(without(value, token));
    setTyped(`${token.flag} ${/\s/.test(token.value) ? `'${token.value}'` : token.value} ${typed}`.trim());
  };
  const tokens = tokensOf(value);
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    const last = tokens.at(-1);
    if (event.key === "Enter") take();
    else if (event.key === "Backspace" && typed === "" && last) edit(last);
    else if (event.key === "Escape" && typed !== "") { setTyped(""); onChange({ ...value, words: "" }); }
    else if (event.key === "Escape") event.currentTarget.blur();
    else return;
    event.preventDefault();
  };
  const long = tooLong(joined(value, parse(typed)));
  const said = long ? undefined : (wrong?.problem.errors?.map((each) => each.message).join("; ") ?? wrong?.message);
  const bad = long !== undefined || said !== undefined;
  return (
    <div className="filter">
      <div className={bad ? "field wrong" : "field"}>
        <Icon name="search" size={14} />
        {tokens.map((token) => (
          <span className="token" key={token.flag + token.value}>
            <button type="button" title={say("filter.edit", { token: token.value })} onClick={() => edit(token)}><i>{token.flag}</i> {token.value}</button>
            <button type="button" aria-label={say("filter.take", { token: token.value })} onClick={() => onChange(without(value, token))}><Icon name="close" size={12} /></button>
          </span>
        ))}
        <input
          data-filter value={typed} placeholder={tokens.length > 0 ? "" : say("list.filter")} aria-label={say("list.filterLabel", { kind: say(`kind.${kind.plural}`) })} spellCheck={false} autoComplete="off"
          aria-invalid={bad} aria-describedby="filter-said" onChange={(event) => setTyped(event.target.value)} onKeyDown={press}
        />
        <span className="dim small nowrap">{count}</span>
      </div>
      {hasFlag.test(typed) && !bad && <p id="filter-said" className="small dim">{say("filter.enter")}</p>}
      {long && <p id="filter-said" className="small bad">{say("filter.tooLong", { part: say(long.part), length: long.length, most: long.most })}</p>}
      {said !== undefined && <p id="filter-said" className="small bad" lang="en">{said}</p>}
    </div>
  );
}
