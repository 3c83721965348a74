import { Dialog } from "@base-ui/react/dialog";
import { useSay } from "../i18n";
import { Icon } from "./Icon";
import { Failure } from "./parts";

/** Why something failed: all that the server said about it. */
export function Reason({ error, onClose }: { error: Error; onClose: () => void }) {
  const say = useSay();
  return (
    <Dialog.Root open onOpenChange={(open) => { if (!open) onClose(); }}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className="dialog">
          <header className="row between">
            <Dialog.Title render={<h2 />}>{say("action.reason")}</Dialog.Title>
            <Dialog.Close className="btn quiet icon" aria-label={say("drawer.close")}><Icon name="close" size={14} /></Dialog.Close>
          </header>
          <div className="body"><Failure error={error} /></div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
