import { useState } from "react";
import { Icon } from "../components/Icon";
import { Segments } from "../components/parts";
import { isFields, type Json } from "../editor/json";
import type { Plural } from "../api/types";
import { useSay } from "../i18n";
import { useObjects } from "../live/hooks";
import { useNamespaceNames } from "../shell/namespaces";
import type { Field } from "./form";
import { pairs, shown, taints, taintText, words } from "./lines";
import { PoolChoice } from "./PoolChoice";

interface Props {
  id: string;
  field: Field;
  value: Json | undefined;
  namespace: string;
  disabled: boolean;
  wrong: boolean;
  onChange: (value: Json | undefined) => void;
}

/** What was typed as YAML reads it: a whole number is one, nothing is no field, and everything else is a word. */
function typed(text: string): Json | undefined {
  if (text === "") return undefined;
  return /^-?\d{1,15}$/.test(text) && String(Number(text)) === text ? Number(text) : text;
}

export function Input(props: Props) {
  const say = useSay();
  const { id, field, value, disabled, onChange } = props;
  const { control } = field;
  const label = say(field.label);
  if (control.as === "pool") return <PoolChoice label={label} value={shown(value)} namespace={props.namespace} onChange={(to) => onChange(to || undefined)} />;
  if (control.as === "check") return <label className="row"><input type="checkbox" checked={value === true} disabled={disabled} onChange={(event) => onChange(event.target.checked || undefined)} />{label}</label>;
  if (control.as === "choice") {
    return (
      <>
        <span className="label" aria-hidden="true">{label}</span>
        <Segments label={label} value={shown(value)} options={control.options.map((option) => [option, option] as const)} disabled={disabled ? say("form.fixed") : undefined} onChange={(to) => onChange(to === value ? undefined : to)} />
      </>
    );
  }
  return <><label className="label" htmlFor={id}>{label}</label><Filled {...props} /></>;
}

function Filled({ id, field, value, disabled, wrong, onChange }: Props) {
  const say = useSay();
  const { control } = field;
  const common = { id, disabled, "aria-invalid": wrong, "aria-describedby": `${id}-${wrong ? "wrong" : "help"}`, autoComplete: "off", spellCheck: false } as const;
  const box = wrong ? "field wrong" : "field";
  switch (control.as) {
    case "stepper": {
      const now = Number(value ?? 0);
      return (
        <span className={wrong ? "step wrong" : "step"}>
          <button type="button" disabled={disabled} aria-label={say("size.less")} onClick={() => onChange(Math.max(0, (Number.isFinite(now) ? now : 0) - 1))}><Icon name="minus" /></button>
          <input {...common} inputMode="numeric" value={shown(value)} onChange={(event) => onChange(typed(event.target.value))} />
          <button type="button" disabled={disabled} aria-label={say("size.more")} onClick={() => onChange((Number.isFinite(now) ? now : 0) + 1)}><Icon name="plus" /></button>
        </span>
      );
    }
    case "area":
      return <textarea {...common} className={wrong ? "area wrong" : "area"} rows={10} value={shown(value)} onChange={(event) => onChange(event.target.value || undefined)} />;
    case "lines":
      return <Lines common={common} wrong={wrong} value={value} read={words} show={(of) => (Array.isArray(of) ? of.map(shown).join("\n") : "")} onChange={onChange} />;
    case "pairs":
      return <Lines common={common} wrong={wrong} placeholder="key=value" value={value} read={pairs} show={(of) => (isFields(of) ? Object.entries(of).map(([key, word]) => `${key}=${shown(word)}`).join("\n") : "")} onChange={onChange} />;
    case "taints":
      return <Lines common={common} wrong={wrong} placeholder="key=value:NoSchedule" value={value} read={taints} show={(of) => (Array.isArray(of) ? of.map(taintText).join("\n") : "")} onChange={onChange} />;
    case "namespace":
      return <NamespaceName common={common} box={box} value={shown(value)} onChange={onChange} />;
    case "object":
      return <ObjectName plural={control.plural} common={common} box={box} value={shown(value)} onChange={onChange} />;
    case "number":
      return <span className={box}><input {...common} inputMode="numeric" value={shown(value)} onChange={(event) => onChange(typed(event.target.value))} /></span>;
    case "text":
      return (
        <span className={box}>
          <input {...common} value={shown(value)} placeholder={control.placeholderKey ? say(control.placeholderKey) : control.placeholder} onChange={(event) => onChange(field.path.at(-1) === "name" || field.path.at(-1) === "image" ? event.target.value : typed(event.target.value))} />
        </span>
      );
    default:
      return null;
  }
}

type Common = { id: string; disabled: boolean; "aria-invalid": boolean; "aria-describedby": string; autoComplete: string; spellCheck: boolean };

/** Lines stay as they are typed, also while they are not yet what they will be; only a change from elsewhere writes them anew. */
function Lines({ common, value, read, show, wrong, placeholder, onChange }: {
  common: Common; value: Json | undefined; read: (text: string) => Json | undefined; show: (value: Json | undefined) => string; wrong: boolean; placeholder?: string; onChange: (value: Json | undefined) => void;
}) {
  const [kept, setText] = useState(() => show(value));
  const text = show(read(kept)) === show(value) ? kept : show(value);
  return <textarea {...common} className={wrong ? "area few wrong" : "area few"} rows={2} placeholder={placeholder} value={text} onChange={(event) => { setText(event.target.value); onChange(read(event.target.value)); }} />;
}

interface OfName { common: Common; box: string; value: string; onChange: (value: Json) => void }

function NamespaceName(props: OfName) {
  return <Name names={useNamespaceNames()} {...props} />;
}

function ObjectName({ plural, ...props }: OfName & { plural: Plural }) {
  const objects: readonly { metadata?: { name?: string } }[] = useObjects(plural);
  return <Name names={objects.map((object) => object.metadata?.name ?? "").filter((name) => name !== "").sort()} {...props} />;
}

/** A name to choose among those that the reader may list, or to type. */
function Name({ names, common, box, value, onChange }: OfName & { names: readonly string[] }) {
  if (names.length === 0) return <span className={box}><input {...common} value={value} onChange={(event) => onChange(event.target.value)} /></span>;
  return (
    <span className={`${box} choice`}>
      <select {...common} value={value} onChange={(event) => onChange(event.target.value)}>
        {!names.includes(value) && <option value={value}>{value}</option>}
        {names.map((name) => <option key={name}>{name}</option>)}
      </select>
      <Icon name="down" size={14} />
    </span>
  );
}
