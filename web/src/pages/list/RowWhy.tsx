import type { KubeObject } from "../../api/types";
import { Said, Step } from "../../components/Said";
import { useLanguage } from "../../i18n";
import { nextOf } from "../../status/next";
import type { Status } from "../../status/status";

/** The second line of a row: the reason, what the server says of it, and what to do. */
export function RowWhy({ kind, status, object }: { kind: string; status: Status; object: KubeObject }) {
  const { meaning } = useLanguage();
  const { reason, message } = status;
  // What a reason means, where that is told, has the next step.
  const next = meaning(reason) ? undefined : nextOf(kind, status, object);
  const open = message !== undefined && !/[.!?。！？…]\s*$/u.test(message);
  return (
    <>
      {reason && <span className="reason">{reason} </span>}
      <Said inline reason={reason} message={message} />
      {next && <>{open ? ". " : " "}<Step text={next} /></>}
    </>
  );
}
