import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { query, read } from "../../api/client";
import type { Usage } from "../../api/types";
import type { Mark } from "../../charts/Plot";
import { extremes, type Sample } from "../../charts/series";
import { Later, later } from "../../components/later";
import { Failure, Nothing, Panel, Segments } from "../../components/parts";
import { useLanguage } from "../../i18n";
import { useGone } from "../../live/page";
import { clock } from "../../status/age";
import { gibi } from "../../status/quantity";

const Plot = later(async () => (await import("../../charts/Plot")).Plot);

export interface Limits {
  cpu?: number | undefined;
  memory?: number | undefined;
}

const spans = ["1", "6", "24", "168"] as const;
const hour = 3_600_000;

/** What an object has used in the last hours. What is older than the server's memory is Prometheus's to know. */
export function UsagePanel({ path, limits = {}, marks = none }: { path: string; limits?: Limits; marks?: readonly Mark[] }) {
  const { say, language } = useLanguage();
  const [hours, setHours] = useState<(typeof spans)[number]>("1");
  const gone = useGone();
  const usage = useQuery<Usage>({
    queryKey: ["usage", path, hours], refetchInterval: gone ? false : 30_000, retry: false, placeholderData: (before) => before,
    queryFn: ({ signal }) => read(`/v1/usage/${path}${query({ hours })}`, { signal }),
  });
  const { data } = usage;
  const until = usage.dataUpdatedAt;
  const from = until - Number(hours) * hour;
  const known = useMemo(() => {
    const of = (value: (point: Usage["series"][number]) => number): Sample[] =>
      (data?.series ?? []).map((point) => ({ time: Date.parse(point.time), value: value(point) })).filter((sample) => sample.time >= from);
    return { cpu: of((point) => point.cpuCores), memory: of((point) => point.memoryBytes) };
  }, [data, from]);
  const first = known.cpu[0];
  const short = data?.incomplete === true && first !== undefined && first.time > from + hour / 10;
  const sub = short ? say("usage.since", { time: clock(new Date(first.time).toISOString(), language, until) }) : undefined;
  const common = { interval: (data?.intervalSeconds ?? 60) * 1000, from, until, marks };
  return (
    <Panel title={say("usage.title")} sub={sub} aside={<Segments label={say("usage.span")} value={hours} options={spans.map((each) => [each, say(each === "168" ? "usage.week" : "usage.hours", { count: each })] as const)} onChange={setHours} />}>
      {usage.error && <Failure error={usage.error} />}
      {data && !usage.error && known.cpu.length === 0 && <Nothing>{data.measured ? say("usage.none") : say("usage.unmeasured")}</Nothing>}
      {known.cpu.length > 0 && (
        <div className="charts">
          <Chart title={say("usage.cpu")} samples={known.cpu} limit={limits.cpu} show={coresText} binary={false} {...common} />
          <Chart title={say("usage.memory")} samples={known.memory} limit={limits.memory} show={gibi} binary {...common} />
        </div>
      )}
    </Panel>
  );
}

const none: readonly Mark[] = [];

function coresText(value: number): string {
  return value.toFixed(value >= 10 ? 0 : value >= 1 ? 1 : 2).replace(/\.0+$/, "");
}

function Chart({ title, samples, limit, show, ...more }: {
  title: string; samples: readonly Sample[]; limit: number | undefined; show: (value: number) => string; binary: boolean; interval: number; from: number; until: number; marks: readonly Mark[];
}) {
  const { say, language } = useLanguage();
  const found = extremes(samples);
  if (!found) return null;
  const spoken = say("usage.spoken", { what: title, now: show(found.now), min: show(found.min), max: show(found.max) });
  return (
    <figure className="chart">
      <figcaption className="row">
        <span className="strong grow">{title}</span>
        {limit ? <span>{Math.round((100 * found.now) / limit)} %</span> : null}
        <span className="dim small">{limit ? say("usage.of", { value: show(found.now), limit: show(limit) }) : show(found.now)}</span>
      </figcaption>
      <Later short fallback={<div className="plotroom" />}><Plot samples={samples} limit={limit} show={show} language={language} spoken={spoken} {...more} /></Later>
    </figure>
  );
}
