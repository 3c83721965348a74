import { useQuery } from "@tanstack/react-query";
import { objectPath, text } from "../../api/client";
import { Failure, Panel, Skeleton } from "../../components/parts";
import { useSay } from "../../i18n";
import type { Kind } from "../../kinds/registry";

/** The object as the API server has it. */
export function Yaml({ kind, namespace, name }: { kind: Kind; namespace: string | undefined; name: string }) {
  const say = useSay();
  const yaml = useQuery({
    queryKey: ["yaml", kind.plural, namespace ?? "", name],
    queryFn: ({ signal }) => text(`/v1${objectPath(kind.plural, namespace, name)}/yaml`, signal),
  });
  if (yaml.isPending) return <Skeleton />;
  if (yaml.error) return <Failure error={yaml.error} again={() => void yaml.refetch()} />;
  const copy = () => void navigator.clipboard.writeText(yaml.data);
  return (
    <Panel title={say("tab.yaml")} sub={say("yaml.sub")} flush aside={<button type="button" className="btn quiet" onClick={copy}>{say("copy")}</button>}>
      <div className="ed" tabIndex={0} role="region" aria-label={say("tab.yaml")}>
        {yaml.data.replace(/\n$/, "").split("\n").map((line, index) => {
          const key = /^(\s*(?:- )?[\w./"-]+:)(.*)$/.exec(line);
          return <div key={index}><i>{index + 1}</i><u /><span>{key ? <><span className="k">{key[1]}</span>{key[2]}</> : line}</span></div>;
        })}
      </div>
    </Panel>
  );
}
