import { useMemo } from "react";
import { useObjects } from "../../../live/hooks";
import { useShown } from "../../../live/page";
import { PodTable } from "../PodTable";
import { matches } from "../selector";
import { Size } from "../Size";
import { usePacking, Waits } from "./Waits";

/** What a PodSet shows: its size, why pods wait, and its pods. */
export function PodSetParts({ namespace, name }: { namespace: string | undefined; name: string }) {
  const podset = useShown("podsets", namespace, name);
  const all = useObjects("pods", namespace);
  const selector = podset?.status?.selector;
  const pods = useMemo(() => (selector ? all.filter((pod) => matches(pod.metadata.labels, selector)) : []), [all, selector]);
  const packing = usePacking(podset, pods);
  if (!podset) return null;
  const { spec, status } = podset;
  const room = packing && spec?.nodePool ? { pool: spec.nodePool, pods: packing.room } : undefined;
  return (
    <>
      <Size plural="podsets" object={podset} size={spec?.size ?? 0} available={status?.availableReplicas ?? 0} updated={status?.updatedReplicas ?? 0} room={room} />
      <Waits podset={podset} own={pods} packing={packing} />
      <PodTable pods={pods} pools />
    </>
  );
}
