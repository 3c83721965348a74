import { Outlet, useRouterState, useSearch } from "@tanstack/react-router";
import { Suspense, useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { present, subscribe } from "../actions/clash";
import type { Target } from "../actions/commands";
import type { Deed } from "../actions/list";
import { announce, Announcer } from "../components/announce";
import { Layer } from "../components/Layer";
import { later } from "../components/later";
import { Toasts } from "../components/toasts";
import { useLanguage } from "../i18n";
import { useBehind, useLink } from "../live/hooks";
import { store } from "../live/store";
import { clock } from "../status/age";
import { Shape } from "../status/shapes";
import { Header } from "./Header";
import { useKeys } from "./keys";
import { Newly } from "./Newly";
import { Rail } from "./Rail";
import { Gate } from "./session";

const Confirm = later(async () => (await import("../actions/Confirm")).Confirm);
const ClashDialog = later(async () => (await import("../actions/ClashDialog")).ClashDialog);
const KeyHelp = later(async () => (await import("./KeyHelp")).KeyHelp);
const Palette = later(async () => (await import("./Palette")).Palette);

function CutOff() {
  const { say, language } = useLanguage();
  const link = useLink();
  const behind = useBehind();
  const old = link === "stale" ? say("banner.stale")
    : behind.length > 0 && link !== "expired" ? say("banner.behind", { kinds: behind.map((kind) => say(`kind.${kind}`)).join(", ") }) : "";
  const text = link === "cut" ? say("banner.cut", { time: clock(new Date(store.lost).toISOString(), language, Date.now()) }) : old;
  useEffect(() => { if (text !== "") announce(text); }, [text]);
  if (link !== "cut" && text !== "") return <div className="banner warn"><Shape name="attention" />{text}</div>;
  if (link !== "cut") return null;
  return (
    <div className="banner bad"><Shape name="stalled" /><span className="grow"><strong>{text}</strong> {say("banner.cutSub")}</span><button type="button" className="btn" onClick={() => store.retry()}>{say("banner.retry")}</button></div>
  );
}

export function Shell() {
  const { say } = useLanguage();
  const { ns } = useSearch({ from: "__root__" });
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [jumping, setJumping] = useState(false);
  const [menu, setMenu] = useState(false);
  const jump = useCallback(() => setJumping(true), []);
  const [asked, setAsked] = useState<{ deed: Deed; target: Target }>();
  const clash = useSyncExternalStore(subscribe, present);
  const [helping, setHelping] = useState(false);
  const help = useCallback(() => setHelping(true), []);
  useKeys(jump, help);
  useEffect(() => setMenu(false), [path]);
  return (
    <Gate>
      <a className="skip" href="#content">{say("app.skip")}</a>
      <div className={menu ? "app open" : "app"}>
        <Rail namespace={ns} />
        <Header namespace={ns} onJump={jump} onMenu={() => setMenu((open) => !open)} />
        <main className="main" id="content" tabIndex={-1}>
          <CutOff />
          <Suspense fallback={null}><Outlet /></Suspense>
        </main>
      </div>
      {jumping && <Layer onClose={() => setJumping(false)}><Palette onDeed={(deed, target) => setAsked({ deed, target })} onClose={() => setJumping(false)} /></Layer>}
      {asked && <Layer onClose={() => setAsked(undefined)}><Confirm deed={asked.deed} target={asked.target} onClose={() => setAsked(undefined)} /></Layer>}
      {clash && <Layer onClose={() => clash.choose("leave")}><ClashDialog clash={clash} onChoose={clash.choose} /></Layer>}
      {helping && <Layer onClose={() => setHelping(false)}><KeyHelp onClose={() => setHelping(false)} /></Layer>}
      <Toasts />
      <Newly namespace={ns} />
      <Announcer />
    </Gate>
  );
}
