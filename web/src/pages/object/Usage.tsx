import { useQuery } from "@tanstack/react-query";
import { read } from "../../api/client";
import type { Usage } from "../../api/types";
import { Failure, Nothing, Panel } from "../../components/parts";
import { useLanguage, useSay } from "../../i18n";
import { clock } from "../../status/age";
import { gibi } from "../../status/quantity";

type Point = Usage["series"][number];

/** What an object has used, a point a minute. A line ends where samples end; nothing is drawn between. */
export function UsagePanel({ path }: { path: string }) {
  const say = useSay();
  const usage = useQuery({
    queryKey: ["usage", path], refetchInterval: 30_000, retry: false,
    queryFn: ({ signal }) => read<Usage>(`/v1/usage/${path}`, { signal }),
  });
  return (
    <Panel title={say("usage.title")} sub={say("usage.sub")}>
      {usage.error && <Failure error={usage.error} />}
      {usage.data && usage.data.series.length === 0 && <Nothing>{usage.data.measured ? say("usage.none") : say("usage.unmeasured")}</Nothing>}
      {usage.data && usage.data.series.length > 0 && (
        <div className="charts">
          <Chart title={say("usage.cpu")} points={usage.data.series} of={(point) => point.cpuCores} show={(value) => say("usage.cores", { value: value.toFixed(2) })} />
          <Chart title={say("usage.memory")} points={usage.data.series} of={(point) => point.memoryBytes} show={gibi} />
        </div>
      )}
    </Panel>
  );
}

const width = 320;
const height = 96;
/** Points further apart than this have a gap between them, in milliseconds. */
const gap = 10 * 60_000;

function Chart({ title, points, of, show }: { title: string; points: readonly Point[]; of: (point: Point) => number; show: (value: number) => string }) {
  const { say, language } = useLanguage();
  const times = points.map((point) => Date.parse(point.time));
  const from = times[0] ?? 0;
  const until = Math.max(times.at(-1) ?? 1, from + 60_000);
  const values = points.map(of);
  const top = Math.max(...values, Number.EPSILON) * 1.15;
  const x = (time: number) => ((time - from) / (until - from)) * width;
  const y = (value: number) => height - (value / top) * height;
  const path = values.map((value, index) => {
    const time = times[index] ?? 0;
    const before = times[index - 1];
    return `${before === undefined || time - before > gap ? "M" : "L"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`;
  }).join("");
  const now = values.at(-1) ?? 0;
  const spoken = say("usage.spoken", { what: title, now: show(now), min: show(Math.min(...values)), max: show(Math.max(...values)) });
  return (
    <figure className="chart">
      <figcaption className="row between"><span className="strong">{title}</span><span>{show(now)}</span></figcaption>
      <svg viewBox={`-2 -4 ${width + 8} ${height + 8}`} role="img" aria-label={spoken} preserveAspectRatio="none">
        <path d={`M0 ${height}H${width}`} stroke="var(--edge)" />
        <path d={path} fill="none" stroke="var(--member)" strokeWidth="1.5" strokeLinejoin="round" vectorEffect="non-scaling-stroke" />
        <circle cx={x(times.at(-1) ?? 0)} cy={y(now)} r="2.5" fill="var(--member)" />
      </svg>
      <div className="row between small dim"><span>{clock(points[0]?.time, language, Date.now())}</span><span>{show(Math.max(...values))} max</span><span>{clock(points.at(-1)?.time, language, Date.now())}</span></div>
    </figure>
  );
}
