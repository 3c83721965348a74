import { type ReactNode, Suspense } from "react";
import { useSay } from "../i18n";
import { Boundary } from "./later";
import { tellBroken } from "./toasts";

/** What opens over a page, and is loaded then. If it does not arrive it closes, and the page stays as it was. */
export function Layer({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  const say = useSay();
  return <Boundary failed={() => null} onFail={(error) => { tellBroken(say, error); onClose(); }}><Suspense fallback={null}>{children}</Suspense></Boundary>;
}
