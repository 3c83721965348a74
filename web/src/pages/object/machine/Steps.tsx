import type { Objects } from "../../../api/types";
import { Panel } from "../../../components/parts";
import { useSay } from "../../../i18n";
import { Shape } from "../../../status/shapes";
import { conditionsOf, conditionStatus, statusOf } from "../../../status/status";

const steps = ["DriverReady", "ImageReady", "Provisioned", "PowerSynced", "ResourcesSynced"];

/** The conditions of a machine in the order in which it passes them. */
export function Steps({ machine }: { machine: Objects["virtualmachines"] }) {
  const say = useSay();
  const whole = statusOf("virtualmachines", machine);
  const conditions = conditionsOf(machine);
  return (
    <Panel title={say("machine.steps")}>
      <ol className="milestones">
        {steps.map((step) => {
          const condition = conditions.find((each) => each.type === step);
          return (
            <li key={step}>
              <span className="row">{condition ? <Shape name={conditionStatus(condition, whole)} /> : <i className="todo" aria-hidden="true" />}<b lang="en">{step}</b></span>
              <span className="small sub" lang={condition ? "en" : undefined}>{condition ? condition.message || (condition.reason === step ? "" : condition.reason) : say("machine.notYet")}</span>
            </li>
          );
        })}
      </ol>
    </Panel>
  );
}
