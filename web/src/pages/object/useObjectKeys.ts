import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { isKey } from "../../components/letters";
import { type Kind, pageOf } from "../../kinds/registry";
import { neighboursOf } from "../../live/neighbours";

/** The keys of the page of an object: what they do is a button or a tab of it as well. */
export function useObjectKeys(kind: Kind, namespace: string | undefined, name: string, wanted: boolean): void {
  const navigate = useNavigate();
  useEffect(() => {
    if (!wanted) return undefined;
    const press = (event: globalThis.KeyboardEvent) => {
      if (!isKey(event)) return;
      const button = event.key === "Delete" ? document.querySelector<HTMLElement>("[data-deed='action.delete']") : undefined;
      // A pool is changed by a rehearsal: its text is there to read.
      const change = event.key === "e" ? document.querySelector<HTMLElement>("[data-deed='pool.changeIt']") : undefined;
      const size = event.key === "s" ? document.querySelector<HTMLInputElement>("[data-size]") : undefined;
      const { before, after } = neighboursOf(kind.plural, namespace, name);
      const next = event.key === "[" ? before : event.key === "]" ? after : undefined;
      const slash = next?.indexOf("/") ?? -1;
      if (next) void navigate({ to: pageOf(kind.plural, next.slice(0, slash) || undefined, next.slice(slash + 1)), search: (now) => now });
      else if (change) change.click();
      else if (event.key === "y" || event.key === "e") void navigate({ to: ".", search: (before) => ({ ...before, tab: "yaml" }) });
      else if (button) button.click();
      else if (size) { size.focus(); size.select(); }
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [navigate, wanted, kind, namespace, name]);
}
