import type { Objects, Schemas } from "../../../api/types";

type Pool = Objects["nodepools"];
type Report = NonNullable<NonNullable<Schemas["NodePoolStatus"]>["dryRun"]>;

/** A consent to lose pods: to how many, and by which generation of the pool. */
export interface Consent {
  generation: number;
  pods: number;
}

/** Whether a consent covers what the pool would do now: another spec, and more pods, are another question. */
export function covers(consent: Consent | undefined, generation: number, pods: number): boolean {
  return consent?.generation === generation && pods <= consent.pods;
}

/**
 * What the controllers say that the pool would do, once they have seen its newest spec, and at least the generation that somebody has
 * written: the stream tells of that a moment later, and until then the report is that of another rehearsal.
 */
export function reportOn(pool: Pool, written = 0): Report | undefined {
  const seen = (pool.status?.observedGeneration ?? 0) >= Math.max(written, pool.metadata.generation ?? 0);
  return seen && pool.spec?.dryRun === true ? pool.status?.dryRun : undefined;
}
