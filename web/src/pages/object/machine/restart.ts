import { type Order, orders, type Target } from "../../../actions/commands";

/** What restarts a machine, at once or at a time, and what takes a plan back: the machine then has the plan that it had before, if any. */
export function restartOf(target: Target, time: Date | undefined, former: string | undefined): { order: Order; undo: Order | undefined } {
  if (!time) return { order: orders.power(target, "restart"), undo: undefined };
  return { order: orders.restartAt(target, time), undo: orders.restartAt(target, former ? new Date(former) : undefined) };
}
