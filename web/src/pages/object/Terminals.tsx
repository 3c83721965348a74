import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { flagsOf, quoted } from "../../actions/commands";
import { objectPath, query } from "../../api/client";
import type { KubeObject } from "../../api/types";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";
import { useObject } from "../../live/hooks";
import { useShown } from "../../live/page";
import { useCut } from "../../live/useCut";
import { may, useRights } from "../../shell/session";
import { TerminalPanel } from "../../terminal/TerminalPanel";
import { entered } from "./containers";

/** The terminal of an object: a shell in a container of a pod, or the console of a machine. */
export function Terminals({ kind, object }: { kind: Kind; object: KubeObject }) {
  const { namespace = "", name = "" } = object.metadata;
  return kind.plural === "pods" ? <Shell namespace={namespace} name={name} /> : <Console namespace={namespace} name={name} />;
}

/** Why the caller cannot open one now, if so. */
function useHindrance(plural: "pods" | "virtualmachines", namespace: string, right: string): string | undefined {
  const say = useSay();
  const cut = useCut(plural);
  const rights = useRights(namespace);
  if (cut) return cut;
  return may(rights, plural, namespace, right) ? undefined : say("terminal.forbidden", { right: right === "exec" ? "pods/exec" : "virtualmachines/console" });
}

function Shell({ namespace, name }: { namespace: string; name: string }) {
  const say = useSay();
  const pod = useShown("pods", namespace, name);
  const forbidden = useHindrance("pods", namespace, "exec");
  const inside = entered(pod);
  const containers = inside.map((each) => each.name);
  // A link can say which: the page of a debugging tool leads to the tool.
  const { container: linked = "" } = useSearch({ from: "__root__" });
  const usual = containers.includes(linked) ? linked : (pod?.metadata.annotations?.["kubectl.kubernetes.io/default-container"] ?? containers[0] ?? "");
  const [chosen, setChosen] = useState<string>();
  const container = chosen ?? usual;
  const runs = inside.find((each) => each.name === container)?.status?.state?.running !== undefined;
  const path = `/v1${objectPath("pods", namespace, name)}/exec${query({ container, command: "sh", stdin: true, stdout: true, tty: true })}`;
  const choice = containers.length > 1 && (
    <label className="field choice">
      <span className="dim">{say("logs.container")}</span>
      <select value={container} onChange={(event) => setChosen(event.target.value)}>{containers.map((each) => <option key={each}>{each}</option>)}</select>
    </label>
  );
  return (
    <TerminalPanel
      name={container} title={(of) => say("terminal.shell", { name: of })} path={path} choice={choice} disabled={forbidden ?? (runs ? undefined : say("terminal.notRunning", { name: container }))}
      kubectl={`kubectl exec -it ${quoted(name)}${flagsOf({ namespace })} -c ${quoted(container)} -- sh`}
    />
  );
}

function Console({ namespace, name }: { namespace: string; name: string }) {
  const say = useSay();
  const machine = useObject("virtualmachines", namespace, name);
  const forbidden = useHindrance("virtualmachines", namespace, "console");
  const off = machine?.status?.phase !== "Active";
  return (
    <TerminalPanel
      title={() => say("terminal.console")} path={`/v1${objectPath("virtualmachines", namespace, name)}/console`}
      disabled={forbidden ?? (off ? say("terminal.off", { phase: machine?.status?.phase ?? "?" }) : undefined)}
    />
  );
}
