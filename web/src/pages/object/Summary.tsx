import { Fragment, useMemo } from "react";
import { Link } from "@tanstack/react-router";
import type { KubeObject, Objects } from "../../api/types";
import { Nothing, Panel } from "../../components/parts";
import { useSay } from "../../i18n";
import { type Kind, pageOf } from "../../kinds/registry";
import { useNow, useObject, useObjects } from "../../live/hooks";
import { age } from "../../status/age";
import { StatusMark } from "../../status/shapes";
import { statusOf } from "../../status/status";
import { ObjectEvents } from "./ObjectEvents";
import { Origins } from "./Origins";
import { Plan } from "./Plan";
import { PoolParts } from "./pool/PoolParts";
import { Size } from "./Size";
import { UsagePanel } from "./Usage";

/** The main column of an object: what its kind has to show, then its events. */
export function Summary({ kind, object }: { kind: Kind; object: KubeObject }) {
  const say = useSay();
  const { namespace, name = "" } = object.metadata;
  return (
    <>
      {kind.plural === "nodepools" && <PoolParts name={name} />}
      {kind.plural === "podsets" && <PodSetParts namespace={namespace} name={name} />}
      {kind.plural === "deployments" && <DeploymentParts namespace={namespace} name={name} />}
      {kind.plural === "nodes" && <><UsagePanel path={`nodes/${encodeURIComponent(name)}`} /><Panel title={say("origins.title")}><Origins name={name} /></Panel><NodePods name={name} /></>}
      {kind.plural === "virtualmachines" && <UsagePanel path={`virtualmachines/${encodeURIComponent(namespace ?? "")}/${encodeURIComponent(name)}`} />}
      {kind.plural === "clusters" && <Plan name={name} />}
      <Panel title={say("overview.events")} flush><ObjectEvents kind={kind} namespace={namespace} name={name} brief /></Panel>
    </>
  );
}

function PodSetParts({ namespace, name }: { namespace: string | undefined; name: string }) {
  const podset = useObject("podsets", namespace, name);
  if (!podset) return null;
  const { spec, status } = podset;
  return (
    <>
      <Size plural="podsets" object={podset} size={spec?.size ?? 0} available={status?.availableReplicas ?? 0} updated={status?.updatedReplicas ?? 0} />
      <Pods namespace={namespace} selector={status?.selector} />
    </>
  );
}

function DeploymentParts({ namespace, name }: { namespace: string | undefined; name: string }) {
  const deployment = useObject("deployments", namespace, name);
  if (!deployment) return null;
  const { spec, status } = deployment;
  const selector = Object.entries(spec?.selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`).join(",");
  const owned = deployment.metadata.ownerReferences?.some((owner) => owner.controller === true) === true;
  return (
    <>
      {!owned && <Size plural="deployments" object={deployment} size={spec?.replicas ?? 1} available={status?.availableReplicas ?? 0} updated={status?.updatedReplicas ?? 0} />}
      <Pods namespace={namespace} selector={selector} />
    </>
  );
}

/** Whether labels match a selector of equalities, which is what these kinds have. */
export function matches(labels: Record<string, string> | undefined, selector: string): boolean {
  return selector.split(",").every((part) => { const [key = "", value = ""] = part.split("="); return labels?.[key] === value; });
}

function Pods({ namespace, selector }: { namespace: string | undefined; selector: string | undefined }) {
  const all = useObjects("pods", namespace);
  const pods = useMemo(() => (selector ? all.filter((pod) => matches(pod.metadata.labels, selector)) : []), [all, selector]);
  return <PodTable pods={pods} />;
}

function NodePods({ name }: { name: string }) {
  const all = useObjects("pods");
  return <PodTable pods={useMemo(() => all.filter((pod) => pod.spec?.nodeName === name), [all, name])} named />;
}

/** Pods with what kubectl prints of them, and why one waits. */
function PodTable({ pods, named = false }: { pods: readonly Objects["pods"][]; named?: boolean }) {
  const say = useSay();
  const now = useNow(10_000);
  const sorted = useMemo(() => [...pods].sort((a, b) => (a.metadata.name ?? "").localeCompare(b.metadata.name ?? "")), [pods]);
  return (
    <Panel title={say("pods.title")} sub={String(pods.length)} flush>
      {pods.length === 0 ? <Nothing>{say("list.none", { kind: "Pods" })}</Nothing> : (
        <div className="scroll" role="group" aria-label={say("pods.title")} tabIndex={0}>
          <table>
            <thead><tr><th scope="col">Name</th><th scope="col" className="num">Ready</th><th scope="col">Status</th><th scope="col" className="num">Restarts</th><th scope="col" className="num">Age</th><th scope="col">Node</th></tr></thead>
            <tbody>
              {sorted.map((pod) => {
                const { namespace, name = "" } = pod.metadata;
                const containers = pod.status?.containerStatuses ?? [];
                const node = pod.spec?.nodeName;
                const status = statusOf("pods", pod);
                const waits = status.name !== "ready" && status.message !== undefined;
                return (
                  <Fragment key={pod.metadata.uid ?? name}>
                  <tr className={waits ? "haswhy" : undefined}>
                    <td><Link className="plainlink" to={pageOf("pods", namespace, name)}><code>{named && namespace ? `${namespace}/` : ""}{name}</code></Link></td>
                    <td className="num">{containers.filter((each) => each.ready).length}/{pod.spec?.containers.length ?? 0}</td>
                    <td><StatusMark status={status} /></td>
                    <td className="num">{containers.reduce((sum, each) => sum + each.restartCount, 0)}</td>
                    <td className="num">{age(pod.metadata.creationTimestamp, now)}</td>
                    <td>{node ? <Link className="plainlink" to={pageOf("nodes", undefined, node)}>{node}</Link> : <span className="dim">&lt;none&gt;</span>}</td>
                  </tr>
                  {waits && <tr className="why"><td colSpan={6}><span className="reason">{status.reason} </span><span lang="en">{status.message}</span></td></tr>}
                  </Fragment>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
