import { useSay } from "../../i18n";
import { isNumber } from "./Row";
import type { Shown } from "./columns";

/** The head of a column. Only what the server can sort by is a button. */
export function Head({ shown, sort, onSort }: { shown: Shown; sort: string | undefined; onSort: (by: string | undefined) => void }) {
  const say = useSay();
  const { name, column } = shown;
  const number = isNumber(column) ? "num" : undefined;
  if (name !== "Name" && name !== "Age") return <th scope="col" className={number} title={column?.description}>{name}</th>;
  const now = name === "Name" ? (sort === undefined || sort === "name" ? "ascending" : undefined) : sort === "created" ? "descending" : sort === "-created" ? "ascending" : undefined;
  const next = name === "Name" ? undefined : sort === "-created" ? "created" : "-created";
  return (
    <th scope="col" className={number} aria-sort={now}>
      <button type="button" className={now ? "sort now" : "sort"} aria-label={say("list.sort", { column: name })} onClick={() => onSort(next)}>{name}{now === "ascending" ? " ↑" : now === "descending" ? " ↓" : ""}</button>
    </th>
  );
}
