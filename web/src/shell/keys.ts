import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { isKey } from "../components/letters";
import { kinds } from "../kinds/registry";

/** Keys of the whole console. Single letters never fire in a field, and not while a modifier is held. */
export function useKeys(onJump: () => void, onHelp: () => void): void {
  const navigate = useNavigate();
  const before = useRef("");
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        onJump();
        return;
      }
      if (!isKey(event)) return;
      const led = before.current === "g";
      before.current = event.key;
      if (event.key === "/") {
        const filter = document.querySelector<HTMLElement>("[data-filter]");
        if (filter) { event.preventDefault(); filter.focus(); }
      } else if (event.key === "?") {
        onHelp();
      } else if (!led && event.key === "n") {
        document.querySelector<HTMLElement>("[data-new]")?.click();
      } else if (led && event.key === "o") {
        void navigate({ to: "/", search: ({ ns }) => ({ ns }) });
      } else if (led) {
        const kind = kinds.find((each) => each.key === event.key);
        if (kind) void navigate({ to: "/$kind", params: { kind: kind.plural }, search: ({ ns }) => ({ ns }) });
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [navigate, onJump, onHelp]);
}
