import { useMemo } from "react";
import type { KubeObject, Schemas } from "../../api/types";
import { useSay } from "../../i18n";
import { Panel } from "../../components/parts";
import type { Kind } from "../../kinds/registry";
import { useObjects } from "../../live/hooks";
import { useShown } from "../../live/page";
import { ObjectEvents } from "./ObjectEvents";
import { Origins } from "./Origins";
import { Containers } from "./Containers";
import { Kubeconfigs, OneKubeconfig } from "./cluster/Kubeconfigs";
import { Operation } from "./cluster/Operation";
import { Plan } from "./cluster/Plan";
import { sizeOf } from "../parts/sizing";
import { PodSetParts } from "./podset/PodSetParts";
import { PodTable } from "./PodTable";
import { PoolParts } from "./pool/PoolParts";
import { podsOf } from "./selector";
import { Size } from "./Size";
import { ToolPods } from "./ToolPods";
import { quantity } from "../../status/quantity";
import { Machine } from "./machine/Machine";
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
      {kind.plural === "pods" && <PodParts namespace={namespace} name={name} />}
      {kind.plural === "services" && <ServicePods namespace={namespace} name={name} />}
      {kind.plural === "nodes" && <><NodeUsage name={name} /><section className="panel"><div className="body"><Origins name={name} /></div></section><NodePods name={name} /></>}
      {kind.plural === "virtualmachines" && <Machine namespace={namespace ?? ""} name={name} />}
      {kind.plural === "clusters" && <><Plan name={name} /><Operation name={name} /><Kubeconfigs cluster={name} /></>}
      {kind.plural === "kubeconfigs" && <OneKubeconfig name={name} />}
      {kind.plural === "podbuggertools" && <ToolPods namespace={namespace ?? ""} name={name} />}
      <Panel title={say("overview.events")} flush><ObjectEvents kind={kind} namespace={namespace} name={name} brief /></Panel>
    </>
  );
}

function NodeUsage({ name }: { name: string }) {
  const allocatable = useShown("nodes", undefined, name)?.status?.allocatable;
  return <UsagePanel path={`nodes/${encodeURIComponent(name)}`} limits={{ cpu: quantity(allocatable?.["cpu"]) || undefined, memory: quantity(allocatable?.["memory"]) || undefined }} />;
}

function PodParts({ namespace, name }: { namespace: string | undefined; name: string }) {
  const pod = useShown("pods", namespace, name);
  return pod ? <Containers pod={pod} /> : null;
}

/** The pods to which a Service leads; one without a selector leads to what somebody else has written. */
function ServicePods({ namespace, name }: { namespace: string | undefined; name: string }) {
  const labels = useShown("services", namespace, name)?.spec?.selector;
  const selector = useMemo(() => ({ matchLabels: labels ?? {} }), [labels]);
  return Object.keys(selector.matchLabels).length === 0 ? null : <Pods namespace={namespace} selector={selector} />;
}

function DeploymentParts({ namespace, name }: { namespace: string | undefined; name: string }) {
  const deployment = useShown("deployments", namespace, name);
  if (!deployment) return null;
  const { spec, status } = deployment;
  const size = sizeOf("deployments", deployment);
  return (
    <>
      {size !== undefined && <Size plural="deployments" object={deployment} size={size} available={status?.availableReplicas ?? 0} updated={status?.updatedReplicas ?? 0} />}
      <Pods namespace={namespace} selector={spec?.selector} />
    </>
  );
}

function Pods({ namespace, selector }: { namespace: string | undefined; selector: Schemas["LabelSelector"] | undefined }) {
  const all = useObjects("pods", namespace);
  const pods = useMemo(() => podsOf(all, selector), [all, selector]);
  return <PodTable pods={pods} />;
}

function NodePods({ name }: { name: string }) {
  const all = useObjects("pods");
  return <PodTable pods={useMemo(() => all.filter((pod) => pod.spec?.nodeName === name), [all, name])} named />;
}
