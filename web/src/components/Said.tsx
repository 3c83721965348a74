import { useLanguage } from "../i18n";

/**
 * What a reason means in the reader's language, where that is not the server's, and what the server says of it. Both stand in lines of their
 * own, or in one line.
 */
export function Said({ reason, message, inline, className }: { reason: string | undefined; message: string | undefined; inline?: boolean; className?: string }) {
  const { meaning } = useLanguage();
  const ours = meaning(reason);
  const Line = inline ? "span" : "div";
  return (
    <>
      {ours && <Line className={className}>{ours}{inline && message && " "}</Line>}
      {message && <Line className={ours ? "dim small said" : className} lang="en">{message}</Line>}
    </>
  );
}

/** What to do, or why a check was not made: in the reader's language where that is known, and as the server says it otherwise. */
export function Step({ text }: { text: string }) {
  const { step } = useLanguage();
  const ours = step(text);
  return <span lang={ours === undefined ? "en" : undefined}>{ours ?? text}</span>;
}

/** What a check asks. */
export function Asked({ check }: { check: { id: string; title: string } }) {
  const ours = useLanguage().check(check.id);
  return <span lang={ours === undefined ? "en" : undefined}>{ours ?? check.title}</span>;
}
