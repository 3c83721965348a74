import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { objectPath, read } from "../../api/client";
import type { Description, KubeObject } from "../../api/types";
import { Failure, Nothing, Panel, Skeleton } from "../../components/parts";
import { useSay } from "../../i18n";
import { type Kind, kindOf, pageOf } from "../../kinds/registry";
import { Shape } from "../../status/shapes";

const marks = { ready: "ready", pending: "reconciling", failed: "stalled" } as const;

/** What owns the object, and what it owns, level by level. */
export function Relatives({ kind, object }: { kind: Kind; object: KubeObject }) {
  const say = useSay();
  const { namespace, name = "" } = object.metadata;
  const described = useQuery({
    queryKey: ["describe", kind.plural, namespace ?? "", name], refetchInterval: 10_000,
    queryFn: ({ signal }) => read<Description>(`/v1${objectPath(kind.plural, namespace, name)}/describe`, { signal }),
  });
  if (described.isPending) return <Skeleton />;
  if (described.error) return <Failure error={described.error} again={() => void described.refetch()} />;
  const { owners, children, leftOut, hidden } = described.data;
  if (owners.length + children.length === 0) return <Panel title={say("related.title")}><Nothing>{say("related.none")}</Nothing></Panel>;
  const level = (uid: string | undefined): number => {
    const parent = children.find((child) => child.uid === uid);
    return parent ? 1 + level(parent.parent) : 0;
  };
  const item = (related: Description["owners"][number], depth: number) => {
    const known = kindOf(related.kind);
    const label = <>{related.namespace && <span className="ns">{related.namespace}/</span>}{related.name}</>;
    return (
      <li key={related.uid} style={{ paddingInlineStart: 16 + depth * 20 }}>
        <Shape name={marks[related.state]} /><span className="kind">{known?.kind ?? related.kind}</span>
        {known ? <Link className="plainlink" to={pageOf(known.plural, related.namespace, related.name)}>{label}</Link> : <span>{label}</span>}
        <span className="reason">{related.reason}</span>
      </li>
    );
  };
  return (
    <>
      {owners.length > 0 && <Panel title={say("related.owners")} flush><ul className="tree">{owners.map((owner) => item(owner, 0))}</ul></Panel>}
      {children.length > 0 && (
        <Panel title={say("related.children")} flush>
          <ul className="tree">{children.map((child) => item(child, level(child.parent)))}</ul>
          {leftOut > 0 && <Nothing>{say("related.left", { count: leftOut })}</Nothing>}
        </Panel>
      )}
      {hidden.map((line) => <p key={line} className="sub" lang="en">{line}</p>)}
    </>
  );
}
