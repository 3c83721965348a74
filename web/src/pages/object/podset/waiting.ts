import type { Check, Explanation } from "../../../api/types";

/** The checks that say why pods wait: those of the pod that was explained, or else those of its owner, which have stopped before there was one. */
export function waitingChecks(why: Explanation): { pod: string | undefined; checks: readonly Check[] } {
  const { because } = why;
  return because?.subject.kind === "Pod" ? { pod: because.subject.name, checks: because.checks } : { pod: undefined, checks: why.checks };
}

/** How many of how many nodes a check leaves, where the server says no more than that. */
export function leftOf({ state, message }: Pick<Check, "state" | "message">): { left: string; all: string } | undefined {
  const match = state === "Passed" ? /^(\d+) of (\d+) nodes\.?$/.exec(message ?? "") : null;
  return match ? { left: match[1] ?? "", all: match[2] ?? "" } : undefined;
}
