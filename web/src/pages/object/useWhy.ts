import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { objectPath, read } from "../../api/client";
import type { Explanation, KubeObject } from "../../api/types";
import type { Kind } from "../../kinds/registry";
import { useCalm } from "../../live/useCalm";
import { statusOf } from "../../status/status";

/** How often an object that changes is explained anew at most, in milliseconds. */
const calm = 2000;

/** What an explanation of the object is about: for another reason there is another one. */
function aboutOf(plural: string, object: KubeObject): string {
  const { name, reason = "" } = statusOf(plural, object);
  return `${name} ${reason}`;
}

/**
 * Why an object is as it is: asked for again when it has changed. old says that the answer is about another reason than the object has now,
 * until the next one comes: what it says to do may be done already.
 */
export function useWhy(kind: Kind | undefined, object: KubeObject | undefined, { wanted = true, every = calm } = {}) {
  const { namespace, name = "", uid, resourceVersion } = object?.metadata ?? {};
  const now = useMemo(() => ({ uid, resourceVersion }), [uid, resourceVersion]);
  const seen = useCalm(now, every);
  // Who goes on to another object does not wait for it.
  const version = seen.uid === uid ? seen.resourceVersion : resourceVersion;
  const plural = kind?.plural ?? "";
  const of = ["why", plural, namespace ?? "", name];
  const about = object && aboutOf(plural, object);
  const { data, isPending, error, refetch } = useQuery<{ about: string | undefined; why: Explanation }>({
    queryKey: [...of, version ?? ""], staleTime: 10_000, gcTime: 60_000, retry: false, enabled: wanted && kind?.explained === true && object !== undefined,
    placeholderData: (before, query) => (query && of.every((part, at) => part === query.queryKey[at]) ? before : undefined),
    queryFn: async ({ signal }) => ({ about, why: await read<Explanation>(`/v1${objectPath(plural, namespace, name)}/why`, { signal }) }),
  });
  return { data: data?.why, old: data !== undefined && data.about !== about, isPending, error, refetch };
}
