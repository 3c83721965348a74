import { Popover } from "@base-ui/react/popover";
import { Icon } from "../../components/Icon";
import { useSay } from "../../i18n";
import type { Shown } from "./columns";

/** Which columns are shown. Those of lower priority are off until somebody wants them. */
export function ColumnChoice({ all, shown, onToggle, onReset }: { all: readonly Shown[]; shown: readonly Shown[]; onToggle: (name: string) => void; onReset: () => void }) {
  const say = useSay();
  const names = new Set(shown.map((each) => each.name));
  return (
    <Popover.Root>
      <Popover.Trigger className="btn"><Icon name="columns" size={14} />{say("list.columns")}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner className="over" sideOffset={4} align="end">
          <Popover.Popup className="pop columns">
            <Popover.Title className="sr">{say("list.columns")}</Popover.Title>
            {all.filter((each) => each.name !== "Name").map((each) => (
              <label key={each.name} title={each.column?.description}>
                <input type="checkbox" checked={names.has(each.name)} onChange={() => onToggle(each.name)} />{each.name}
              </label>
            ))}
            <button type="button" className="plain" onClick={onReset}>{say("list.reset")}</button>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
