import { Fragment, type ReactNode } from "react";
import { useSay } from "../../i18n";
import { hunksOf, linesOf } from "../../editor/lines";

/** What differs between two texts, under the names of the fields around it. Marks stand beside the colours. */
export function DiffView({ before, after, note }: { before: string; after: string; note?: (text: string) => ReactNode }) {
  const say = useSay();
  const hunks = hunksOf(linesOf(before, after));
  const words = { "+": say("diff.added"), "-": say("diff.removed"), " ": "" };
  return (
    <div className="diff" role="group" aria-label={say("diff.label")} tabIndex={0}>
      {hunks.map((hunk, index) => (
        <Fragment key={index}>
          {hunk.within !== "" && <div className="at"><b /><span>{hunk.within}</span></div>}
          {hunk.lines.map((line, row) => (
            <div key={row} className={line.mark === "+" ? "add" : line.mark === "-" ? "del" : undefined}>
              <b aria-hidden="true">{line.mark === "-" ? "−" : line.mark}</b>
              <span>{words[line.mark] && <span className="sr">{words[line.mark]} </span>}{line.text}{note?.(line.text)}</span>
            </div>
          ))}
        </Fragment>
      ))}
    </div>
  );
}
