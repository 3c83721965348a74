import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { Icon } from "../../components/Icon";
import { isComposed } from "../../components/letters";
import type { Refusal } from "../../api/client";
import { useSay } from "../../i18n";
import { useObjects } from "../../live/hooks";
import type { Kind } from "../../kinds/registry";
import { entered, type Filter, parse, type Token, tokensOf, without } from "./filter";
import { tooLong } from "./limits";
import { suggest, type Suggestion } from "./suggest";

const hasFlag = /(^|\s)(-l|--selector|--field-selector)(\s|=|$)/;

/**
 * One field for words and selectors, as one would type them for kubectl. Words filter as they are typed; Enter makes selectors tokens. What
 * is typed stays, and comes back where it is wrong.
 */
export function FilterField({ kind, value, wrong, count, onChange }: {
  kind: Kind; value: Filter; wrong: Refusal | undefined; count: string; onChange: (value: Filter) => void;
}) {
  const say = useSay();
  const [typed, setTyped] = useState(value.words);
  // What this field has sent comes back without spaces and quotes, and what is typed stays. What comes from elsewhere replaces it.
  const sent = useRef<string[]>([]);
  useEffect(() => {
    const at = sent.current.indexOf(value.words);
    if (at < 0) setTyped(value.words);
    sent.current = at < 0 ? [] : sent.current.slice(at + 1);
  }, [value.words]);
  const { filter, left } = entered(value, typed);
  const long = tooLong(filter);
  const last = useRef<{ line: string; left: string; filter: Filter; before: Filter }>(undefined);
  const [refused, setRefused] = useState<{ line: string; error: Refusal }>();
  const take = () => {
    if (long) return;
    if (filter.words !== value.words) sent.current.push(filter.words);
    last.current = wrong ? undefined : { line: typed, left, filter, before: value };
    setTyped(left);
    onChange(filter);
  };
  // What the server refuses is text again, and the list is that of before.
  useEffect(() => {
    const of = last.current;
    if (!wrong || !of || value.labels !== of.filter.labels || value.fields !== of.filter.fields) return;
    last.current = undefined;
    const line = typed === of.left ? of.line : `${of.line} ${typed}`;
    setTyped(line);
    setRefused({ line, error: wrong });
    onChange({ ...value, labels: of.before.labels, fields: of.before.fields });
  }, [wrong, value, typed, onChange]);
  useEffect(() => {
    const { words } = parse(typed);
    if (words === value.words || sent.current.includes(words) || hasFlag.test(typed)) return undefined;
    const timer = setTimeout(() => { sent.current.push(words); onChange({ ...value, words: typed.trim() }); }, 300);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  const edit = (token: Token) => {
    onChange(without(value, token));
    setTyped(`${token.flag} ${/\s/.test(token.value) ? `'${token.value}'` : token.value} ${typed}`.trim());
  };
  const tokens = tokensOf(value);
  const objects = useObjects(kind.plural);
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const found = useMemo(() => (open ? suggest(typed, kind.plural, objects) : []), [open, typed, kind, objects]);
  const type = (to: string) => { setTyped(to); setOpen(true); setAt(-1); };
  const choose = (one: Suggestion) => { setTyped(one.line); setAt(-1); setOpen(one.line.endsWith("=")); };
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    if (isComposed(event.nativeEvent)) return;
    const last = tokens.at(-1);
    const chosen = found[at];
    if (event.key === "ArrowDown" && found.length > 0) setAt((at + 1) % found.length);
    else if (event.key === "ArrowUp" && found.length > 0) setAt(at <= 0 ? found.length - 1 : at - 1);
    else if ((event.key === "Enter" || event.key === "Tab") && chosen) choose(chosen);
    else if (event.key === "Escape" && found.length > 0) setOpen(false);
    else if (event.key === "Enter") { setOpen(false); take(); }
    else if (event.key === "Backspace" && typed === "" && last) edit(last);
    else if (event.key === "Escape" && typed !== "") { setTyped(""); onChange({ ...value, words: "" }); }
    else if (event.key === "Escape") event.currentTarget.blur();
    else return;
    event.preventDefault();
  };
  const error = wrong ?? (refused?.line === typed ? refused.error : undefined);
  const said = long ? undefined : (error?.problem.errors?.map((each) => each.message).join("; ") ?? error?.message);
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
          role="combobox" aria-autocomplete="list" aria-expanded={found.length > 0} aria-controls="filter-found" aria-activedescendant={found[at] ? `filter-found-${at}` : undefined}
          aria-invalid={bad} aria-describedby="filter-said" onChange={(event) => type(event.target.value)} onKeyDown={press} onBlur={() => setOpen(false)}
        />
        <span className="dim small nowrap">{count}</span>
      </div>
      <ul id="filter-found" className="pop suggestions" hidden={found.length === 0} role="listbox" aria-label={say("filter.suggestions")}>
        {found.map((one, index) => (
          <li key={one.text} id={`filter-found-${index}`} role="option" aria-selected={index === at} onPointerDown={(event) => { event.preventDefault(); choose(one); }} onPointerMove={() => setAt(index)}>
            <code>{one.text}</code> <span className="dim">{say(one.about, { count: one.count })}</span>
          </li>
        ))}
      </ul>
      {hasFlag.test(typed) && !bad && <p id="filter-said" className="small dim">{say("filter.enter")}</p>}
      {long && <p id="filter-said" className="small bad">{say("filter.tooLong", { part: say(long.part), length: long.length, most: long.most })}</p>}
      {said !== undefined && <p id="filter-said" className="small bad" lang="en">{said}</p>}
    </div>
  );
}
