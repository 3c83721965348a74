import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { isKey } from "../components/letters";
import { kinds } from "../kinds/registry";

/** Keys of the whole console. Single letters never fire in a field, and not while a modifier is held. */
export function useKeys(onJump: () => void, onHelp: () => void): void {
  const navigate = useNavigate();
  const before = useRef("");
  useEffect(() => {
    // Before a row that has the focus sees it: rows have keys of their own, such as "s" and "e".
    const lead = (event: globalThis.KeyboardEvent) => {
      if (!isKey(event)) return;
      const led = before.current === "g";
      before.current = event.key;
      const kind = kinds.find((each) => each.key === event.key);
      if (!led || (event.key !== "o" && !kind)) return;
      event.preventDefault();
      event.stopPropagation();
      void (kind ? navigate({ to: "/$kind", params: { kind: kind.plural }, search: ({ ns }) => ({ ns }) }) : navigate({ to: "/", search: ({ ns }) => ({ ns }) }));
    };
    const press = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        onJump();
        return;
      }
      if (!isKey(event)) return;
      if (event.key === "/") {
        const filter = document.querySelector<HTMLElement>("[data-filter]");
        if (filter) { event.preventDefault(); filter.focus(); }
      } else if (event.key === "?") {
        onHelp();
      } else if (event.key === "n") {
        document.querySelector<HTMLElement>("[data-new]")?.click();
      }
    };
    document.addEventListener("keydown", lead, true);
    document.addEventListener("keydown", press);
    return () => {
      document.removeEventListener("keydown", lead, true);
      document.removeEventListener("keydown", press);
    };
  }, [navigate, onJump, onHelp]);
}
