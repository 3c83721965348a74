import type { Schemas } from "../api/types";
import { type Json, type Path, touches } from "./json";
import type { Edit } from "./patch";
import { pathOf } from "./path";

export type FieldChange = Schemas["FieldChange"];
export type FieldOwner = Schemas["FieldOwner"];

/** A field that the reader has changed and somebody else has set. */
export interface Conflict {
  edit: Edit;
  owners: readonly FieldOwner[];
}
/** What becomes of a field that somebody else has set. */
export type Choice = "leave" | "take";

/** Fields that this console has set, with whichever of its buttons, are nobody else's. */
export function isForeign(owner: FieldOwner): boolean {
  return !owner.manager.startsWith("windlass-console-");
}

/** The edits that meet fields of others, with who they are, as the API server's managedFields say. */
export function conflictsOf(edits: readonly Edit[], changes: readonly FieldChange[], before: Json | undefined): Conflict[] {
  const owned = changes.map((change) => ({ path: pathOf(change.path, before), owners: change.owners.filter(isForeign) })).filter((change) => change.owners.length > 0);
  return edits.flatMap((edit): Conflict[] => {
    const owners = new Map<string, FieldOwner>();
    // A field that was not there has no owner; who owns something beside it does not lose anything.
    if (edit.before === undefined) return [];
    for (const change of owned) if (touches(change.path, edit.path)) for (const owner of change.owners) owners.set(owner.manager, owner);
    return owners.size === 0 ? [] : [{ edit, owners: [...owners.values()] }];
  });
}

/** The edits that are sent: without those that the reader leaves to their owners. */
export function without(edits: readonly Edit[], left: readonly Path[]): Edit[] {
  return edits.filter((edit) => !left.some((path) => path.length === edit.path.length && touches(path, edit.path)));
}
