import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { isKey } from "../../components/letters";

/** The keys of the page of an object: what they do is a button or a tab of it as well. */
export function useObjectKeys(wanted: boolean): void {
  const navigate = useNavigate();
  useEffect(() => {
    if (!wanted) return undefined;
    const press = (event: globalThis.KeyboardEvent) => {
      if (!isKey(event)) return;
      const button = event.key === "Delete" ? document.querySelector<HTMLElement>("[data-deed='action.delete']") : undefined;
      const size = event.key === "s" ? document.querySelector<HTMLInputElement>("[data-size]") : undefined;
      if (event.key === "y" || event.key === "e") void navigate({ to: ".", search: (before) => ({ ...before, tab: "yaml" }) });
      else if (button) button.click();
      else if (size) { size.focus(); size.select(); }
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [navigate, wanted]);
}
