// Reads a trace of Chromium: what the threads that draw a page took of the processor, and what the page's own thread did meanwhile.

/** What the events of the main thread are, by their names. The rest is the browser's own work. */
const parts = {
  script: ["FunctionCall", "EvaluateScript", "FireAnimationFrame", "TimerFire", "EventDispatch", "RunMicrotasks", "v8.callFunction", "v8.run", "V8.GCCallbacks", "FireIdleCallback"],
  gc: ["MinorGC", "MajorGC", "V8.GC_MC_BACKGROUND_MARKING"],
  style: ["UpdateLayoutTree", "RecalculateStyles", "ScheduleStyleRecalculation"],
  layout: ["Layout", "InvalidateLayout"],
  paint: ["PrePaint", "Paint", "Layerize", "UpdateLayer", "UpdateLayerTree"],
  commit: ["Commit", "CompositeLayers"],
};
const partOf = new Map(Object.entries(parts).flatMap(([part, names]) => names.map((name) => [name, part])));

const cpuOf = ({ dur = 0, tdur }) => (tdur ?? dur) / 1000;

/** The events of each thread that last, by "pid/tid". */
function threads(events) {
  const names = new Map(events.filter((event) => event.name === "thread_name").map(({ pid, tid, args }) => [`${pid}/${tid}`, args.name]));
  const out = new Map();
  for (const event of events) {
    if (event.ph !== "X") continue;
    const key = `${event.pid}/${event.tid}`;
    const thread = out.get(key) ?? { name: names.get(key) ?? "", events: [] };
    thread.events.push(event);
    out.set(key, thread);
  }
  for (const { events: own } of out.values()) own.sort((a, b) => a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0));
  return [...out.values()];
}

/** Calls back with each event and those that it is inside of, the innermost last. */
function walk(events, visit) {
  const stack = [];
  for (const event of events) {
    while (stack.length > 0 && stack.at(-1).ts + (stack.at(-1).dur ?? 0) <= event.ts) stack.pop();
    visit(event, stack);
    stack.push(event);
  }
}

/** What a thread took of the processor: of events within events the outermost. */
function total({ events }) {
  let sum = 0;
  walk(events, (event, stack) => { if (stack.length === 0) sum += cpuOf(event); });
  return sum;
}

/** The page's own thread: of all main threads of renderers the one that did most. */
function mainOf(all) {
  return all.filter(({ name }) => name === "CrRendererMain").sort((a, b) => total(b) - total(a))[0] ?? { name: "", events: [] };
}

/** What the tasks of the page's own thread took, in milliseconds: of time, and of the processor; and of which parts. */
export function tasksOf(trace) {
  const tasks = [];
  const inside = new Map();
  walk(mainOf(threads(trace.traceEvents)).events, (event, stack) => {
    const task = event.name === "RunTask" && !stack.some(({ name }) => name === "RunTask") ? { took: event.dur / 1000, cpu: cpuOf(event), parts: {} } : inside.get(stack.at(-1));
    if (event.name === "RunTask" && task && !inside.has(stack.at(-1))) tasks.push(task);
    if (!task) return;
    inside.set(event, task);
    // An event counts for its own part, and no longer for that of the one around it.
    const add = (part, value) => { task.parts[part] = (task.parts[part] ?? 0) + value; };
    const part = partOf.get(event.name) ?? event.part ?? partAround(stack);
    event.part = part;
    add(part, cpuOf(event));
    const around = stack.at(-1);
    if (around && inside.has(around)) add(around.part, -cpuOf(event));
  });
  return tasks;
}

function partAround(stack) {
  return stack.at(-1)?.part ?? "other";
}

/** What draws: the threads beside the main one, by what they are for. */
export function drawersOf(trace) {
  const out = {};
  for (const thread of threads(trace.traceEvents)) {
    const kind = thread.name === "Compositor" ? "compositor" : /^(VizCompositorThread|CrGpuMain|Chrome_InProcGpuThread)$/.test(thread.name) ? "display" : undefined;
    if (kind) out[kind] = (out[kind] ?? 0) + total(thread);
    // Any worker may fill tiles.
    for (const event of thread.events) if (event.name === "RasterTask") out.raster = (out.raster ?? 0) + cpuOf(event);
  }
  return out;
}
