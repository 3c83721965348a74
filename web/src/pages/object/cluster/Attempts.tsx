import { Panel } from "../../../components/parts";
import { useLanguage } from "../../../i18n";
import { useNow } from "../../../live/hooks";
import { clock } from "../../../status/age";
import { Shape } from "../../../status/shapes";
import { duration } from "./stages";

interface Run { id: string; phase: string; startTime?: string; endTime?: string; reason?: string }

const shapes = { Running: "reconciling", Succeeded: "ready", Failed: "stalled", Interrupted: "stalled" } as const;

function shapeOf(phase: string) {
  return phase === "Running" || phase === "Succeeded" || phase === "Interrupted" ? shapes[phase] : shapes.Failed;
}

/** The runs of a cluster that are known, each with how it ended and how long it took. */
export function Attempts({ runs, attempt, onChoose }: { runs: readonly Run[]; attempt: (id: string) => string; onChoose: (id: string) => void }) {
  const { say, language } = useLanguage();
  const now = useNow(10_000);
  return (
    <Panel title={say("cluster.attempts")} sub={String(runs.length)} flush>
      <ul className="entries">
        {runs.map(({ id, phase, startTime, endTime, reason }) => (
          <li key={id} className="row wrap">
            <Shape name={shapeOf(phase)} /><button type="button" className="plain" onClick={() => onChoose(id)}>{say("cluster.attempt", { attempt: attempt(id) })}</button>
            <span className="sub grow">{clock(startTime, language, now)}{startTime && endTime && `, ${duration(Date.parse(endTime) - Date.parse(startTime))}`}</span>
            <span className="reason">{phase === "Succeeded" || phase === "Running" ? phase : (reason ?? phase)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
