import { Fragment, useMemo } from "react";
import type { Objects } from "../../api/types";
import { Panel } from "../../components/parts";
import { useLanguage } from "../../i18n";
import { useNow } from "../../live/hooks";
import { age, clock } from "../../status/age";
import { cores, gibi, quantity } from "../../status/quantity";
import { StatusMark } from "../../status/shapes";
import { containersOf, type OneContainer, stateOf } from "./containers";

/** The containers of a pod: how each is, how it ended last, and what it requests. */
export function Containers({ pod }: { pod: Objects["pods"] }) {
  const { say } = useLanguage();
  const containers = useMemo(() => containersOf(pod), [pod]);
  return (
    <Panel title={say("fact.containers")} sub={String(containers.length)} flush>
      <div className="scroll">
        <table className="cards">
          <thead>
            <tr>
              <th scope="col">Name</th><th scope="col">Status</th><th scope="col" className="num">Restarts</th><th scope="col">{say("containers.ended")}</th>
              <th scope="col" className="num">CPU</th><th scope="col" className="num">{say("map.memory")}</th><th scope="col">{say("fact.image")}</th>
            </tr>
          </thead>
          <tbody>{containers.map((container) => <One key={container.name} container={container} />)}</tbody>
        </table>
      </div>
    </Panel>
  );
}

const nothing = <span className="dim">&lt;none&gt;</span>;

function One({ container }: { container: OneContainer }) {
  const { say, language } = useLanguage();
  const now = useNow(10_000);
  const { name, sort, image, requests, status } = container;
  const state = stateOf(container);
  // What ended before it was started again, or else as it is.
  const ended = status?.lastState?.terminated ?? status?.state?.terminated;
  const said = state?.message ?? (status?.lastState?.terminated?.message || undefined);
  const request = (of: "cpu" | "memory", show: (value: number) => string) => { const value = quantity(requests[of]); return value > 0 ? show(value) : nothing; };
  return (
    <Fragment>
      <tr className={said === undefined ? undefined : "haswhy"}>
        <td className="nm"><code>{name}</code>{sort !== "main" && <span className="dim small"> {say(`containers.${sort}`)}</span>}</td>
        <td className="mark" lang="en">{state ? <StatusMark status={{ name: state.name }} word={state.word} /> : nothing}</td>
        <td className="num" data-label="Restarts">{status?.restartCount ?? 0}</td>
        <td data-label={say("containers.ended")}>{ended ? <span title={clock(ended.finishedAt, language, now)}><span lang="en">{ended.reason ?? "Error"}</span>, {say("containers.code", { code: ended.exitCode })}, {age(ended.finishedAt, now)}</span> : nothing}</td>
        <td className="num" data-label="CPU">{request("cpu", cores)}</td>
        <td className="num" data-label={say("map.memory")}>{request("memory", gibi)}</td>
        <td data-label={say("fact.image")}><code>{image}</code></td>
      </tr>
      {said !== undefined && <tr className="why"><td colSpan={7}><span lang="en">{said}</span></td></tr>}
    </Fragment>
  );
}
