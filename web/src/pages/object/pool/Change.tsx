import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { curl, type Target } from "../../../actions/commands";
import { Same } from "../../../actions/Same";
import { useHindrance } from "../../../actions/useHindrance";
import { useOrder } from "../../../actions/useOrder";
import { bodyOf, objectPath, read, text } from "../../../api/client";
import type { Objects } from "../../../api/types";
import { Action, DoesTheSame, Failure, Skeleton } from "../../../components/parts";
import { Icon } from "../../../components/Icon";
import { Later, later } from "../../../components/later";
import { tell } from "../../../components/toasts";
import { useSaveKey } from "../../../components/useSaveKey";
import { type Key, useSay } from "../../../i18n";
import { store } from "../../../live/store";
import { Shape } from "../../../status/shapes";
import { fromPreview, fromReport } from "./foreseen";
import { ForeseenList } from "./ForeseenList";
import { answered, arrived, isDone, keep, type Kept, keptOf } from "./kept";
import { Going, Refused, Touched } from "./Touched";
import { diffLines } from "./lines";
import { apply, live, type PoolSpec, rehearsed, setSpec } from "./orders";
import { type Consent, covers, reportOn } from "./rehearsal";
import { useForeseen } from "./useForeseen";

type Pool = Objects["nodepools"];
const SpecEditor = later(async () => (await import("./SpecEditor")).SpecEditor);

/**
 * A change of a pool: typed, foreseen while it is typed, rehearsed by the controllers with spec.dryRun, and then applied or discarded.
 * Nothing touches a node before Apply. What is not finished when it closes is there when it opens again.
 */
export function Change({ pool: told, target, onClose }: { pool: Pool; target: Target; onClose: () => void }) {
  const say = useSay();
  const path = `/v1${objectPath("nodepools", undefined, target.name)}`;
  // Asked for anew: what the stream has told may be a moment old, as after an Apply.
  const fresh = useQuery({
    queryKey: ["change", target.uid], staleTime: Infinity, gcTime: 0,
    queryFn: async ({ signal }) => ({ pool: await read<Pool>(path, { signal }), text: await text(`${path}/yaml?fields=spec`, signal) }),
  });
  const pool = fresh.data && (fresh.data.pool.metadata.generation ?? 0) > (told.metadata.generation ?? 0) ? fresh.data.pool : told;
  const { name, uid } = target;
  const begun = useMemo((): Kept | undefined => {
    if (!fresh.data) return undefined;
    const { pool: { metadata, spec }, text: before } = fresh.data;
    const generation = metadata.generation ?? 0;
    // A pool that rehearses already, as somebody else has left it, is applied or changed further.
    return keptOf({ name, uid }, { generation, spec: { ...spec } }) ?? { text: before, stage: spec?.dryRun === true ? "rehearsed" : "edit", generation, before: { text: before, spec: { ...spec } } };
  }, [fresh.data, name, uid]);
  const [changed, setChanged] = useState<Kept>();
  const last = changed ?? begun;
  const generation = pool.metadata.generation ?? 0;
  const now = { generation, spec: { ...pool.spec } };
  const change = last && arrived(last, now);
  // The newest, also for what has waited for an answer: somebody types meanwhile.
  const newest = useRef(change);
  newest.current = change;
  const become = (to: (from: Kept) => Kept) => {
    if (!newest.current) return;
    newest.current = to(newest.current);
    keep(target, newest.current);
    setChanged(newest.current);
  };
  const setText = (text: string) => { if (text !== newest.current?.text) become((from) => ({ ...from, text })); };
  const stage = change?.stage ?? "edit";
  const value = change?.text;
  const before = change?.before.text;
  const written = change?.written;
  const [consent, setConsent] = useState<Consent>();
  const [unread, setUnread] = useState<Error>();
  const { run, busy: sending, failed } = useOrder();
  const [taking, setTaking] = useState(false);
  /** How the reader has ordered it to end, and the spec that the pool has then. */
  const [ordered, setOrdered] = useState<{ word: Key; spec: PoolSpec }>();
  // What is on its way cannot be taken back yet, and nothing is sent beside it.
  const busy = sending || taking;
  // A right, or the stream, can go while the dialog is open.
  const refused = useHindrance("nodepools", undefined, "patch");
  const { preview, spec, refusal, current } = useForeseen({ path, uid, version: pool.metadata.resourceVersion, typed: value });
  // Against the spec as this dialog has last written it, or else seen: a change of somebody else is never overwritten.
  const order = spec && change && setSpec(target, written ?? change.before.spec, rehearsed(spec));
  const report = reportOn(pool, change?.generation);
  const pods = Math.max(stage === "rehearsed" ? (report?.podsToEvict ?? 0) : 0, preview?.podCount ?? 0);
  const ticked = covers(consent, generation, pods);
  const nodes = stage === "rehearsed" && report ? (report.affectedNodes ?? 0) : (preview?.changed ?? 0);

  const save = async () => {
    if (!order || !spec || !change) return;
    // Kept before it is sent: its answer can be lost, and then there is something to take back.
    become((from) => ({ ...from, sent: { text: change.text, spec: rehearsed(spec) } }));
    const answer = await run(order, say("pool.rehearse"), target.name, { quiet: true });
    if (!answer) return;
    // The server counts only what changes something, and the stream has perhaps not told of it yet.
    const after = await bodyOf<Pool>(answer).catch(() => undefined);
    become((from) => answered(from, after?.metadata.generation ?? generation + 1));
    setConsent(undefined);
  };
  const end = () => { keep(target, undefined); onClose(); };
  // What has been rehearsed here, or what the report is on where somebody else has begun it.
  const known = written ?? now.spec;
  const there = written ?? change?.sent?.spec;
  const back = there && change && setSpec(target, there, change.before.spec);
  const applying = apply(target, known);
  const finish = async () => {
    setOrdered({ word: "pool.apply", spec: live(known) });
    if (await run(applying, say("pool.apply"), target.name)) end();
  };
  /** The spec that is to be taken back, if any: one that nobody has answered is looked for. */
  const landed = async (of: Kept): Promise<PoolSpec | undefined> => {
    if (!of.sent) return of.written;
    const { metadata, spec } = await read<Pool>(`${path}?consistent=true`);
    return arrived(of, { generation: metadata.generation ?? 0, spec: { ...spec } }).written;
  };
  const discard = async () => {
    if (!change) return end();
    setUnread(undefined);
    setTaking(true);
    setOrdered({ word: "pool.discard", spec: change.before.spec });
    try {
      const there = await landed(change);
      if (!there || (await run(setSpec(target, there, change.before.spec), say("pool.discard"), target.name))) end();
    } catch (cause) {
      setUnread(cause instanceof Error ? cause : new Error(String(cause)));
    } finally {
      setTaking(false);
    }
  };
  const trouble = failed ?? unread;
  const ready = stage === "rehearsed" && report !== undefined && (pods === 0 || ticked);
  // What rehearses already can be rehearsed as it is.
  const unchanged = value === before && pool.spec?.dryRun !== true;
  const saveNow = () => { if (stage === "edit" && order && !unchanged && current && refused === undefined && !busy) void save(); };
  useSaveKey(saveNow, 1);
  // What somebody else has begun is taken back by those who know what was before.
  const unknown = stage === "rehearsed" && !written ? say("pool.unknown") : undefined;
  // What was ordered here and is done was done by nobody else, whatever became of its answer.
  const done = change && ordered && isDone(change, ordered.spec, now) ? ordered.word : undefined;
  const overtaken = stage === "rehearsed" && written && change && generation > change.generation && !done ? say("pool.overtaken") : undefined;
  const lost = busy ? undefined : done;
  const over = useRef(end);
  over.current = end;
  useEffect(() => {
    if (!lost) return;
    tell(say("action.done", { action: say(lost), name }));
    over.current();
  }, [lost, say, name]);
  return (
    // Escape that ends a search in the editor, or a selection, is not for the dialog.
    <Dialog.Root open onOpenChange={(open, { reason, event }) => { if (!open && !busy && !store.ended && !(reason === "escape-key" && event.defaultPrevented)) onClose(); }}>
      <Dialog.Portal>
        <Dialog.Backdrop className="scrim" />
        <Dialog.Popup className="dialog wide">
          <header className="row between">
            <div>
              <Dialog.Title render={<h2 />}>{say("pool.change", { name: target.name })}</Dialog.Title>
              <p className="sub">{say(stage === "edit" ? "pool.foreseenSub" : report ? "pool.rehearsedSub" : "pool.waits", { count: nodes })}</p>
            </div>
            <button type="button" className="btn quiet icon" aria-label={say("drawer.close")} onClick={onClose}><Icon name="close" size={14} /></button>
          </header>
          <div className="body">
            <div className="rehearsal">
              <section>
                <h3>{say("pool.yours")}</h3>
                {fresh.isPending && <Skeleton />}
                {fresh.error && <Failure error={fresh.error} />}
                {stage === "edit" && value !== undefined && before !== undefined && (
                  <Later fallback={<Skeleton />}><SpecEditor kind={target.kind} value={value} before={before} refusal={refusal} onText={setText} onSave={saveNow} /></Later>
                )}
                {stage === "rehearsed" && value !== undefined && before !== undefined && (
                  <div className="diff">{diffLines(before, value).map((line, index) => <div key={index} className={line.sign === "+" ? "add" : line.sign === "−" ? "del" : undefined}><b>{line.sign.trim()}</b>{line.text}</div>)}</div>
                )}
              </section>
              <section>
                <h3>{say("pool.onTheNodes")} <span className="dim small">{stage === "rehearsed" ? "status.dryRun" : say("pool.foreseen")}</span></h3>
                {refusal && stage === "edit" && <Refused error={refusal} />}
                {stage === "edit" && preview && !refusal && <ForeseenList foreseen={fromPreview(preview)} />}
                {stage === "rehearsed" && (report ? <ForeseenList foreseen={fromReport(report)} /> : <p className="sub row"><Shape name="reconciling" />{say("pool.waits")}</p>)}
                {preview && !refusal && <Touched preview={preview} />}
              </section>
            </div>
            {preview?.braked && <div className="reasonbox heed"><Shape name="waiting" /><div>{say("pool.braked", { count: preview.leaving })}</div></div>}
            {preview?.podsHidden && <p className="small sub" lang="en">{preview.podsHidden}</p>}
            {pods > 0 && !refusal && <div className="reasonbox stalled"><Shape name="stalled" /><div><strong>{say("pool.pods", { count: pods })}</strong> {say("pool.podsWhy")}{value?.includes("NoExecute") && <> <button type="button" className="plain" onClick={() => become((from) => ({ ...from, text: value.replaceAll(/\bNoExecute\b/g, "NoSchedule"), stage: "edit" }))}>{say("pool.softer")}</button></>}</div></div>}
            {pods > 0 && !refusal && preview && <Going preview={preview} />}
            {stage === "edit" ? order && !unchanged && <DoesTheSame kubectl={order.kubectl} curl={curl(order)} /> : <DoesTheSame kubectl={applying.kubectl} curl={curl(applying)} />}
            {trouble && <Failure error={trouble} />}
          </div>
          <footer>
            {pods > 0 && stage === "rehearsed" && <label className="row grow"><input type="checkbox" checked={ticked} onChange={(event) => setConsent(event.target.checked ? { generation, pods } : undefined)} />{say("pool.tick", { count: pods })}</label>}
            {stage === "rehearsed" && <Action label={say("pool.back")} busy={false} onClick={() => become((from) => ({ ...from, stage: "edit" }))} />}
            <Same order={back}><Action label={say("pool.discard")} disabled={busy ? say("action.busy") : unknown ?? overtaken ?? (back && refused)} onClick={() => void discard()} /></Same>
            {stage === "edit"
              ? <Action label={say("pool.rehearse")} primary busy={busy} disabled={order && !unchanged && current ? refused : say(unchanged ? "pool.unchanged" : "pool.unread")} onClick={() => void save()} />
              : <Action label={say("pool.applyTo", { count: nodes })} danger={pods > 0} primary={pods === 0} solid busy={busy} disabled={overtaken ?? refused} waits={!ready} onClick={() => void finish()} />}
          </footer>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
