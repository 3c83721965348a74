import { Tooltip } from "@base-ui/react/tooltip";
import { type ReactElement, useId } from "react";
import { useSay } from "../i18n";
import { curl, type Order } from "./commands";

/** A button that shows, under the pointer and with the focus, the commands that do the same. Without an order it shows none. */
export function Same({ order, children }: { order: Order | undefined; children: ReactElement }) {
  const say = useSay();
  const id = useId();
  return (
    <Tooltip.Root disabled={!order}>
      <Tooltip.Trigger delay={300} aria-describedby={order && id} render={children} />
      <Tooltip.Portal>
        <Tooltip.Positioner className="over" sideOffset={6} align="end">
          <Tooltip.Popup id={id} className="pop samepop">
            <span className="dim">{say("same.title")}</span>
            {order && <><code lang="en">{order.kubectl}</code><code className="dim" lang="en">{curl(order)}</code></>}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
