import { useSay } from "../../i18n";
import { isNumber } from "./Row";
import { numeric, type Shown } from "./columns";
import { headOf } from "./sorting";
import { pageSize } from "./useTable";

/** The head of a column. Those of a list that is whole are buttons; beyond one page the server sorts, and only what it can sort by is one. */
export function Head({ shown, sort, whole, onSort }: { shown: Shown; sort: string | undefined; whole: boolean; onSort: (by: string | undefined) => void }) {
  const say = useSay();
  const { name, column } = shown;
  const own = column === undefined && numeric.includes(name);
  const number = own || isNumber(column) ? "num" : undefined;
  const about = own ? say("columns.requested") : column?.description;
  const always = name === "Name" || name === "Age";
  if (!whole && !always) return <th scope="col" className={number} title={[about, say("list.notSorted", { count: pageSize })].filter(Boolean).join("\n")}>{name}</th>;
  const { now, next } = headOf(shown, sort);
  const classes = ["sort", now ? "now" : "", always ? "" : "local"].filter(Boolean).join(" ");
  return (
    <th scope="col" className={number} aria-sort={now} title={about}>
      <button type="button" className={classes} aria-label={say("list.sort", { column: name })} onClick={() => onSort(!whole && name === "Name" ? undefined : next)}>{name}{now === "ascending" ? " ↑" : now === "descending" ? " ↓" : ""}</button>
    </th>
  );
}
