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
