import { createContext, useContext } from "react";
import type { KubeObject, Objects, Plural } from "../api/types";
import { useObject } from "./hooks";
import { keyOf } from "./store";

/** The object of a page: as it is, or as it was when it went. */
export interface PageObject {
  kind: Plural;
  object: KubeObject;
  gone: boolean;
}

/** What the page around is about. Parts of it find their object here when the stream has it no more, and offer nothing then. */
export const OfPage = createContext<PageObject | undefined>(undefined);

/** Whether a page is about that object. */
export function isAbout(page: PageObject | undefined, kind: Plural, namespace: string | undefined, name: string): page is PageObject {
  return page?.kind === kind && keyOf(page.object.metadata) === keyOf({ namespace, name });
}

/** Whether the object of the page around is gone. */
export function useGone(): boolean {
  return useContext(OfPage)?.gone === true;
}

/** An object as it is; that of the page stays as it was when it is gone. */
export function useShown<K extends Plural>(kind: K, namespace: string | undefined, name: string): Objects[K] | undefined {
  const now = useObject(kind, namespace, name);
  const page = useContext(OfPage);
  // The page has it from the store, which has objects under their kind.
  return now ?? (isAbout(page, kind, namespace, name) ? (page.object as never) : undefined);
}
