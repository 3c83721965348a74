import "@xterm/xterm/css/xterm.css";
import "./terminal.css";
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { useEffect, useRef } from "react";
import { coloursOf, whenThemeChanges } from "../design/colours";
import { connect } from "./connection";
import type { Ending } from "./protocol";

/** How many lines can be scrolled back to. */
const scrollback = 5000;

/** What a machine prints as a link stays text: it leads nobody anywhere. */
const nowhere = { activate: () => undefined };

function theme() {
  const of = coloursOf("sunken", "ink", "ink-3", "accent", "on-accent", "selected", "ok", "warn", "bad");
  return {
    background: of.sunken, foreground: of.ink, cursor: of.accent, cursorAccent: of["on-accent"], selectionBackground: of.selected, selectionForeground: of.ink,
    red: of.bad, green: of.ok, yellow: of.warn, blue: of.accent, brightBlack: of["ink-3"],
  };
}

/**
 * Does something during which style elements get the nonce of the page, without which its policy lets none in. The library makes its
 * own when it opens, and knows no nonce.
 */
function withNonce(act: () => void): void {
  const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce;
  const own = Object.getOwnPropertyDescriptor(document, "createElement");
  const make = document.createElement.bind(document);
  Object.defineProperty(document, "createElement", {
    configurable: true,
    value: (name: string, options?: ElementCreationOptions) => {
      const made = make(name, options);
      if (nonce && made instanceof HTMLStyleElement) made.nonce = nonce;
      return made;
    },
  });
  try {
    act();
  } finally {
    if (own) Object.defineProperty(document, "createElement", own);
    else Reflect.deleteProperty(document, "createElement");
  }
}

/** The screen of one connection, from its opening to its end. What it has printed stays to be read. */
export function Screen({ path, label, onOpen, onEnd }: { path: string; label: string; onOpen: () => void; onEnd: (how: Ending) => void }) {
  const place = useRef<HTMLDivElement>(null);
  const calls = useRef({ onOpen, onEnd });
  calls.current = { onOpen, onEnd };
  const name = useRef<(label: string) => void>(undefined);
  useEffect(() => {
    const box = place.current;
    if (!box) return undefined;
    const mono = getComputedStyle(document.documentElement).getPropertyValue("--mono");
    const terminal = new Terminal({ fontFamily: mono, fontSize: 12, lineHeight: 1.3, scrollback, theme: theme(), minimumContrastRatio: 4.5, cursorBlink: false, screenReaderMode: true, linkHandler: nowhere });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    withNonce(() => terminal.open(box));
    name.current = (to) => terminal.textarea?.setAttribute("aria-label", to);
    // The way out for those who have no pointer: everything else belongs to the program.
    terminal.attachCustomKeyEventHandler((event) => !(event.key === "Tab" && event.shiftKey));
    fit.fit();
    const connection = connect(path, {
      opened: () => {
        connection.resize(terminal.cols, terminal.rows);
        terminal.focus();
        calls.current.onOpen();
      },
      printed: (bytes) => terminal.write(bytes),
      ended: (how) => {
        terminal.options.disableStdin = true;
        calls.current.onEnd(how);
      },
    });
    terminal.onData(connection.type);
    terminal.onResize(({ cols, rows }) => connection.resize(cols, rows));
    const watcher = new ResizeObserver(() => fit.fit());
    watcher.observe(box);
    const end = whenThemeChanges(() => { terminal.options.theme = theme(); });
    return () => {
      end();
      watcher.disconnect();
      connection.leave();
      terminal.dispose();
    };
  }, [path]);
  // Another language names it anew, and is no reason to connect again.
  useEffect(() => name.current?.(label), [label]);
  return <div className="terminal" ref={place} />;
}
