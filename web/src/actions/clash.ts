import { Refusal } from "../api/client";
import type { Problem } from "../api/types";
import type { Order } from "./commands";

export type Field = NonNullable<Problem["errors"]>[number];

/** An order that meets fields which others have set, and what becomes of them. */
export interface Clash {
  order: Order;
  label: string;
  name: string;
  fields: readonly Field[];
}
export type Choice = "leave" | "take";

const refuses = "&refuseConflicts=true";

/** Has the API refuse an order that would change what others have set. */
export function refusing(path: string): string {
  return path + refuses;
}

/** Whether the API has refused an order because of what others have set. */
export function isClash(error: unknown): error is Refusal {
  return error instanceof Refusal && error.problem.status === 409 && error.problem.errors?.some((each) => each.code === "FieldManagerConflict") === true;
}

/** The same order, which takes the fields over. */
export function taken(order: Order): Order {
  return { ...order, path: order.path.replace(refuses, "") };
}

let open: (Clash & { choose: (choice: Choice) => void }) | undefined;
const calls = new Set<() => void>();

function tell(clash: typeof open): void {
  open = clash;
  for (const call of calls) call();
}

/** Asks the reader, one clash at a time: whatever another one was about is left. */
export function decided(clash: Clash): Promise<Choice> {
  open?.choose("leave");
  return new Promise((done) => tell({ ...clash, choose: (choice) => { tell(undefined); done(choice); } }));
}

export function subscribe(call: () => void): () => void {
  calls.add(call);
  return () => calls.delete(call);
}

export function present(): typeof open {
  return open;
}
