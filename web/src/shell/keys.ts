import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { kinds } from "../kinds/registry";

function types(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
}

/** Keys of the whole console. Single letters never fire in a field, and not while a modifier is held. */
export function useKeys(onJump: () => void): void {
  const navigate = useNavigate();
  const before = useRef("");
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        onJump();
        return;
      }
      if (types(event.target) || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("[role=dialog]")) return;
      const led = before.current === "g";
      before.current = event.key;
      if (event.key === "/") {
        const filter = document.querySelector<HTMLElement>("[data-filter]");
        if (filter) { event.preventDefault(); filter.focus(); }
      } else if (event.key === "?") {
        onJump();
      } else if (!led && event.key === "n") {
        document.querySelector<HTMLElement>("[data-new]")?.click();
      } else if (led && event.key === "o") {
        void navigate({ to: "/" });
      } else if (led) {
        const kind = kinds.find((each) => each.key === event.key);
        if (kind) void navigate({ to: "/$kind", params: { kind: kind.plural } });
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [navigate, onJump]);
}
