import { type ComponentProps, type MouseEvent, type ReactNode, useEffect, useState } from "react";
import { Refusal } from "../api/client";
import { useSay } from "../i18n";
import { Icon, type IconName } from "./Icon";
import { wordsOf } from "./words";

/** A part of a page. One that folds has a button for it on a phone, where it is folded at first. holds is what tells whether pointer or focus is in it, its head too. */
export function Panel({ title, sub, aside, children, flush, folds, holds }: {
  title: string; sub?: string | undefined; aside?: ReactNode; children: ReactNode; flush?: boolean; folds?: string; holds?: Omit<ComponentProps<"section">, "className">;
}) {
  const [open, setOpen] = useState(false);
  return (
    <section {...holds} className={folds && !open ? "panel folded" : "panel"}>
      <header>
        <h2>{title}</h2>{sub && <span className="dim">{sub}</span>}<span className="grow" />{aside}
        {folds && <button type="button" className="btn quiet icon unfold" aria-label={folds} aria-expanded={open} onClick={() => setOpen(!open)}><Icon name={open ? "up" : "down"} size={14} /></button>}
      </header>
      {flush ? children : <div className="body">{children}</div>}
    </section>
  );
}

/** A command as one would type it, with a button that copies it. It never breaks inside an argument. */
export function Command({ text }: { text: string }) {
  const say = useSay();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true));
  return (
    <div className="cmd">
      <span className="p" aria-hidden="true">$</span>
      <code className="c">{wordsOf(text).map((word, at) => (word.trim() === "" || word.includes("\n") ? word : <span key={at} className="a">{word}</span>))}</code>
      <button type="button" className="copy" onClick={copy} aria-label={copied ? say("copied") : say("copy")} title={copied ? say("copied") : say("copy")}>
        <Icon name={copied ? "check" : "copy"} size={14} />
      </button>
    </div>
  );
}

/** The same as kubectl and as curl, before anything is sent. */
export function DoesTheSame({ kubectl, curl }: { kubectl: string; curl: string }) {
  const say = useSay();
  const [shown, setShown] = useState<"kubectl" | "curl">("kubectl");
  return (
    <div>
      <div className="same">
        <span>{say("same.title")}</span>
        {(["kubectl", "curl"] as const).map((each) => (
          <button key={each} type="button" aria-pressed={shown === each} onClick={() => setShown(each)}>{each}</button>
        ))}
      </div>
      <Command text={shown === "kubectl" ? kubectl : curl} />
    </div>
  );
}

/** Bars where rows will be, after 300 ms: what is there sooner does not flash. */
export function Skeleton({ rows = 5 }: { rows?: number }) {
  const say = useSay();
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return <div aria-busy="true" />;
  return (
    <div className="skeleton" aria-busy="true">
      <span className="sr">{say("app.loading")}</span>
      {Array.from({ length: rows }, (_, row) => <span key={row} className="skel" />)}
    </div>
  );
}

/** A refusal in the server's words. */
export function Failure({ error, again }: { error: Error; again?: () => void }) {
  const say = useSay();
  return (
    <div className="reasonbox stalled" role="alert">
      <span />
      <div>
        <div className="strong">{say("error.title")}</div>
        {error instanceof Refusal && <div className="reason">{error.problem.code}</div>}
        <div lang="en">{error.message}</div>
        {error instanceof Refusal && error.problem.errors && <ul className="small stack" lang="en">{error.problem.errors.map((each, at) => <li key={at}>{each.location && <code>{each.location}</code>} {each.message}</li>)}</ul>}
      </div>
      {again && <button type="button" className="btn" onClick={again}>{say("error.again")}</button>}
    </div>
  );
}

export function Nothing({ children }: { children: ReactNode }) {
  return <p className="nothing">{children}</p>;
}

/** A button that stays focusable while it is disabled, and says why. What waits for a tick has it beside it; solid is what a dialog is about. */
export function Action({ label, name, icon, onClick, disabled, waits, danger, primary, solid, busy, ...more }: Omit<ComponentProps<"button">, "onClick" | "disabled" | "type" | "className"> & {
  label: string; name?: string; icon?: IconName | undefined; onClick: (event: MouseEvent<HTMLButtonElement>) => void; disabled?: string | undefined; waits?: boolean; danger?: boolean; primary?: boolean; solid?: boolean; busy?: boolean;
}) {
  const off = disabled !== undefined || waits === true || busy === true;
  return (
    <button
      {...more} type="button" className={`btn${danger ? " danger" : ""}${primary ? " primary" : ""}${solid ? " solid" : ""}`} aria-disabled={off} title={disabled} data-deed={name}
      onClick={(event) => { if (!off) onClick(event); }}
    >
      {busy ? <span className="arc" aria-hidden="true" /> : icon && <Icon name={icon} size={12} />}{label}
      {disabled && <span className="whynot">{disabled}</span>}
    </button>
  );
}

/** A choice among a few. One that cannot be made stays focusable, and says why. */
export function Segments<T extends string>({ label, value, options, disabled, onChange }: { label: string; value: T; options: readonly (readonly [T, string])[]; disabled?: string | undefined; onChange: (value: T) => void }) {
  return (
    <span className="seg" role="group" aria-label={label}>
      {options.map(([option, word]) => (
        <button key={option} type="button" aria-pressed={option === value} aria-disabled={disabled === undefined ? undefined : true} title={disabled} onClick={() => { if (disabled === undefined) onChange(option); }}>{word}</button>
      ))}
    </span>
  );
}
