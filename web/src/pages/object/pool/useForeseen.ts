import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { read, Refusal } from "../../../api/client";
import { useLasting, whilePassing } from "../../../api/passing";
import type { Schemas } from "../../../api/types";
import { useLater } from "../../edit/useLater";
import type { PoolSpec } from "./orders";

const yaml = "application/yaml";

/** The text with the newest version: that of a pool also counts its status, which the controllers write again and again. */
function withVersion(text: string, version: string | undefined): string {
  return version === undefined ? text : text.replace(/^( +resourceVersion: ).*$/m, `$1"${version}"`);
}

/**
 * A change of a pool as it is typed, and 400 ms after the last key what it would do on the nodes, the spec that the server makes of it, and what
 * the server has against it. What is foreseen is current if it is of what is typed now.
 */
export function useForeseen({ path, uid, version, typed }: { path: string; uid: string; version: string | undefined; typed: string | undefined }) {
  const newest = useRef(version);
  newest.current = version;
  const asked = useLater(typed);
  const current = asked === typed;
  const preview = useQuery({
    queryKey: ["preview", path, asked], enabled: asked !== undefined, retry: false, staleTime: 0, refetchInterval: whilePassing,
    queryFn: ({ signal }) => read<Schemas["PoolPreview"]>(`${path}/preview`, { method: "POST", body: asked, type: yaml, signal }),
  });
  const wrong = useLasting(preview, asked ?? "");
  // The server reads the YAML: what it makes of it is what is written.
  const planned = useQuery({
    queryKey: ["planned", path, typed], enabled: current && typed !== undefined && preview.isSuccess, refetchInterval: whilePassing,
    // The controllers write the status again and again: a version that is old by now is no reason to stop.
    retry: (count, error) => count < 5 && error instanceof Refusal && error.problem.status === 409,
    queryFn: ({ signal }) => read<{ after: { spec?: PoolSpec } }>(`${path}/diff?replace=true&uid=${encodeURIComponent(uid)}`, { method: "PUT", body: withVersion(typed ?? "", newest.current), type: yaml, signal }),
  });
  const unplanned = useLasting(planned, typed ?? "");
  return { preview: preview.data, spec: planned.data?.after.spec, refusal: wrong ?? unplanned ?? undefined, current };
}
