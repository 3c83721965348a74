import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { flagsOf, quoted } from "../../../actions/commands";
import { useHindrance } from "../../../actions/useHindrance";
import { objectPath, send } from "../../../api/client";
import type { Objects } from "../../../api/types";
import { Action, DoesTheSame, Failure, Panel } from "../../../components/parts";
import { save } from "../../../components/save";
import { tell } from "../../../components/toasts";
import { useLanguage, useSay } from "../../../i18n";
import { pageOf } from "../../../kinds/registry";
import { useObjects } from "../../../live/hooks";
import { useShown } from "../../../live/page";
import { useCut } from "../../../live/useCut";
import { clock } from "../../../status/age";
import { conditionsOf } from "../../../status/status";

type Kubeconfig = Objects["kubeconfigs"];

function isIssued(of: Kubeconfig): boolean {
  return conditionsOf(of).some((condition) => condition.type === "Issued" && condition.status === "True");
}

/** Downloads what the Secret of a Kubeconfig holds, with the rights of the reader. Nothing keeps it. */
function useDownload(): { get: (name: string, uid: string) => Promise<void>; busy: boolean; failed: Error | undefined } {
  const say = useSay();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<Error>();
  const get = async (name: string, uid: string) => {
    setBusy(true);
    setFailed(undefined);
    try {
      const answer = await send(`/v1${objectPath("kubeconfigs", undefined, name)}/download?uid=${encodeURIComponent(uid)}`, { method: "POST" });
      save(`${name}.kubeconfig`, await answer.blob());
      tell(say("kubeconfig.got", { name }));
    } catch (cause) {
      setFailed(cause instanceof Error ? cause : new Error(String(cause)));
    } finally {
      setBusy(false);
    }
  };
  return { get, busy, failed };
}

/** The button of one Kubeconfig, and the refusal of the server if there is one. */
export function Download({ of }: { of: Kubeconfig }) {
  const say = useSay();
  const cut = useCut("kubeconfigs");
  const { get, busy, failed } = useDownload();
  const { name = "", uid = "" } = of.metadata;
  const disabled = cut ?? (isIssued(of) ? undefined : say("kubeconfig.notYet"));
  return (
    <>
      <Action label={say("kubeconfig.download")} disabled={disabled} busy={busy} onClick={() => void get(name, uid)} />
      {failed && <Failure error={failed} />}
    </>
  );
}

/** Leads to the form of a Kubeconfig of a cluster: only by one is there a download. What somebody has typed there before is still there. */
function Make({ cluster }: { cluster: string }) {
  const say = useSay();
  const navigate = useNavigate();
  const hindrance = useHindrance("kubeconfigs", undefined, "create");
  return <Action label={say("kubeconfig.make")} disabled={hindrance} onClick={() => void navigate({ to: "/create/$form", params: { form: "kubeconfigs" }, search: { of: cluster } })} />;
}

/** The Kubeconfigs of a cluster, each with its download. */
export function Kubeconfigs({ cluster }: { cluster: string }) {
  const { say, language } = useLanguage();
  const all = useObjects("kubeconfigs");
  const own = all.filter((each) => each.spec?.clusterRef?.name === cluster || each.metadata.ownerReferences?.some((owner) => owner.kind === "Cluster" && owner.name === cluster));
  return (
    <Panel title={say("kind.kubeconfigs")} sub={String(own.length)} flush>
      {own.length === 0 ? <div className="row wrap nothing"><span className="grow">{say("kubeconfig.none")}</span><Make cluster={cluster} /></div> : (
        <ul className="entries">
          {own.map((each) => {
            const { name = "" } = each.metadata;
            return (
              <li key={each.metadata.uid} className="row wrap">
                <Link className="link" to={pageOf("kubeconfigs", undefined, name)}>{name}</Link>
                <span className="sub grow">{each.spec?.type === "ServiceAccountToken" ? each.spec.clusterRole : "Admin"}{each.status?.expiresAt && `, ${say("kubeconfig.until", { time: clock(each.status.expiresAt, language, Date.now()) })}`}</span>
                <Download of={each} />
              </li>
            );
          })}
        </ul>
      )}
    </Panel>
  );
}

/** The page of a Kubeconfig: how to get it here and in the shell. */
export function OneKubeconfig({ name }: { name: string }) {
  const say = useSay();
  const kubeconfig = useShown("kubeconfigs", undefined, name);
  if (!kubeconfig) return null;
  const secret = kubeconfig.status?.secretRef;
  const kubectl = secret ? `kubectl get secret ${quoted(secret.name ?? "")}${flagsOf({ namespace: secret.namespace })} -o jsonpath={.data.value} | base64 -d > ${quoted(`${name}.kubeconfig`)}` : "";
  return (
    <Panel title={say("kubeconfig.get")} sub={say("kubeconfig.keep")}>
      <div className="stack wide">
        <div className="row wrap"><Download of={kubeconfig} /></div>
        {secret && <DoesTheSame kubectl={kubectl} curl={`curl -sS -X POST -H "Authorization: Bearer $T" -o ${quoted(`${name}.kubeconfig`)} "$A/v1/kubeconfigs/${encodeURIComponent(name)}/download"`} />}
      </div>
    </Panel>
  );
}
