import "uplot/dist/uPlot.min.css";
import "./plot.css";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { coloursOf, whenThemeChanges } from "../design/colours";
import { columns, type Sample, topOf } from "./series";

/** Something that happened, drawn across the plot. */
export interface Mark {
  time: number;
  word: string;
}

const height = 132;
/** Steps of an axis of bytes: 4 Gi and 8 Gi, and not 4.7 Gi. */
const powers = Array.from({ length: 51 }, (_, at) => 2 ** at);

/** A line over time: y from 0, the limit dashed, and what happened. Its figures and its sentence stand beside it. */
export function Plot({ samples, interval, from, until, limit, marks, show, binary, language, spoken }: {
  samples: readonly Sample[]; interval: number; from: number; until: number; limit: number | undefined; marks: readonly Mark[];
  show: (value: number) => string; binary: boolean; language: string; spoken: string;
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = place.current;
    if (!box) return undefined;
    const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    const font = `11px ${getComputedStyle(document.documentElement).getPropertyValue("--sans")}`;
    const draw = () => {
      const of = coloursOf("member", "level", "edge", "line", "ink-3");
      /** What uPlot has no part for: the limit, the marks with their words, and the end of the line. */
      const around = (plot: uPlot) => {
        const { ctx, bbox } = plot;
        const ratio = devicePixelRatio;
        ctx.save();
        ctx.lineWidth = ratio;
        ctx.font = font.replace("11px", `${11 * ratio}px`);
        if (limit !== undefined) {
          const y = plot.valToPos(limit, "y", true);
          ctx.strokeStyle = of.edge;
          ctx.setLineDash([4 * ratio, 3 * ratio]);
          ctx.beginPath(); ctx.moveTo(bbox.left, y); ctx.lineTo(bbox.left + bbox.width, y); ctx.stroke();
        }
        ctx.strokeStyle = ctx.fillStyle = of["ink-3"];
        ctx.setLineDash([ratio, 3 * ratio]);
        // A word that would lie over the one before is left out: its line is there.
        let free = bbox.left;
        for (const mark of marks) {
          const x = plot.valToPos(mark.time / 1000, "x", true);
          if (x < bbox.left || x > bbox.left + bbox.width) continue;
          ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
          const width = ctx.measureText(mark.word).width + 4 * ratio;
          const at = x + width < bbox.left + bbox.width ? x + 4 * ratio : x - width;
          if (at < free) continue;
          ctx.fillText(mark.word, at, bbox.top + 14 * ratio);
          free = at + width;
        }
        const last = samples.at(-1);
        if (last) {
          ctx.setLineDash([]);
          ctx.fillStyle = of.member;
          ctx.beginPath(); ctx.arc(plot.valToPos(last.time / 1000, "x", true), plot.valToPos(last.value, "y", true), 2.5 * ratio, 0, 2 * Math.PI); ctx.fill();
        }
        ctx.restore();
      };
      const axis = { stroke: of["ink-3"], font, ticks: { show: false } };
      return new uPlot({
        width: Math.max(120, box.clientWidth), height, padding: [8, 8, 0, 0], cursor: { show: false }, legend: { show: false },
        scales: { x: { time: true, range: [from / 1000, until / 1000] }, y: { range: [0, topOf(samples, limit)] } },
        axes: [
          { ...axis, size: 22, gap: 6, space: 90, grid: { show: false }, values: (_, ticks) => ticks.map((tick) => clock.format(tick * 1000)) },
          { ...axis, size: 52, gap: 6, space: 36, ...(binary ? { incrs: powers } : {}), grid: { stroke: of.line, width: 1 }, values: (_, ticks) => ticks.map(show) },
        ],
        series: [{}, { stroke: of.member, width: 1.5, fill: `color-mix(in srgb, ${of.level} 50%, transparent)`, points: { show: false }, spanGaps: false }],
        hooks: { draw: [around] },
      }, columns(samples, interval), box);
    };
    let plot = draw();
    const again = () => { plot.destroy(); plot = draw(); };
    const watcher = new ResizeObserver(() => { if (box.clientWidth > 0 && box.clientWidth !== plot.width) plot.setSize({ width: box.clientWidth, height }); });
    watcher.observe(box);
    const end = whenThemeChanges(again);
    return () => { end(); watcher.disconnect(); plot.destroy(); };
  }, [samples, interval, from, until, limit, marks, show, binary, language]);
  return <div className="plot" ref={place} role="img" aria-label={spoken} />;
}
