import type { Schemas } from "../../../api/types";

type Preview = Schemas["PoolPreview"];
type Report = NonNullable<NonNullable<Schemas["NodePoolStatus"]>["dryRun"]>;

/** A line of what would happen on the nodes. */
export interface Fate {
  sign: "+" | "−" | "~";
  text: string;
  /** On how many nodes, where that is known. */
  nodes?: number;
}

export interface Foreseen {
  labels: Fate[];
  annotations: Fate[];
  taints: Fate[];
  /** Keys that the pool wants and would not get, and the pools that have them. */
  lost: string[];
}

const kinds = { label: "labels", annotation: "annotations", taint: "taints" } as const;

function split(key: string): { list: keyof typeof kinds; name: string } {
  const space = key.indexOf(" ");
  const list = key.slice(0, space);
  return { list: list === "annotation" || list === "taint" ? list : "label", name: key.slice(space + 1) };
}

function valued(name: string, value: string, list: keyof typeof kinds): string {
  if (list !== "taint") return `${name}=${value}`;
  const colon = name.lastIndexOf(":");
  return value === "" || colon < 0 ? name : `${name.slice(0, colon)}=${value}${name.slice(colon)}`;
}

/** What a preview says of all nodes together: the same change of several nodes is one line. */
export function fromPreview(preview: Preview): Foreseen {
  const out: Foreseen = { labels: [], annotations: [], taints: [], lost: [] };
  const count = (list: Fate[], sign: Fate["sign"], text: string) => {
    const there = list.find((fate) => fate.sign === sign && fate.text === text);
    if (there) there.nodes = (there.nodes ?? 0) + 1;
    else list.push({ sign, text, nodes: 1 });
  };
  const lost = new Set<string>();
  for (const node of preview.nodes) {
    for (const { key, before, after } of node.changes) {
      const { list, name } = split(key);
      if (before !== undefined) count(out[kinds[list]], "−", valued(name, before, list));
      if (after !== undefined) count(out[kinds[list]], "+", valued(name, after, list));
    }
    for (const conflict of node.conflicts) lost.add(conflict.key);
  }
  out.lost = [...lost].sort();
  for (const list of [out.labels, out.annotations, out.taints]) list.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : a.sign < b.sign ? 1 : -1));
  return out;
}

/** The same from the report of the controllers. */
export function fromReport(report: Report): Foreseen {
  const both = (minus: readonly string[] | undefined, plus: readonly string[] | undefined): Fate[] => [
    ...(minus ?? []).map((text) => ({ sign: "−" as const, text })), ...(plus ?? []).map((text) => ({ sign: "+" as const, text })),
  ];
  return { labels: both(report.labelsToRemove, report.labelsToSet), annotations: [], taints: both(report.taintsToRemove, report.taintsToAdd), lost: [] };
}
