import type { ComponentProps, KeyboardEvent } from "react";
import { Icon } from "../../components/Icon";
import { useSay } from "../../i18n";
import { bounded, sizeIn } from "./sizing";

/** A number of pods that is typed, or changed with −, + and the arrow keys. onKey takes the keys of the place that it stands in. */
export function Stepper({ value, onValue, onKey, ...input }: Omit<ComponentProps<"input">, "value" | "onChange" | "onKeyDown"> & {
  value: number; onValue: (value: number) => void; onKey: (key: string) => boolean; "data-size"?: "";
}) {
  const say = useSay();
  const off = input.readOnly === true;
  const [less, more] = off ? [value, value] : [bounded(value - 1), bounded(value + 1)];
  const press = (event: KeyboardEvent) => {
    if (event.key === "ArrowUp") onValue(more);
    else if (event.key === "ArrowDown") onValue(less);
    else if (!onKey(event.key)) return;
    event.preventDefault();
  };
  return (
    <span className="step">
      <button type="button" aria-label={say("size.less")} aria-disabled={off || undefined} onClick={() => onValue(less)}><Icon name="minus" /></button>
      <input {...input} inputMode="numeric" aria-label={say("size.value")} value={value} onChange={(event) => { const typed = sizeIn(event.target.value); if (typed !== undefined) onValue(typed); }} onKeyDown={press} />
      <button type="button" aria-label={say("size.more")} aria-disabled={off || undefined} onClick={() => onValue(more)}><Icon name="plus" /></button>
    </span>
  );
}
