import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { read } from "../api/client";
import type { Login, Schemas } from "../api/types";
import { Command } from "../components/parts";
import { Mark } from "../components/Icon";
import { useSay } from "../i18n";
import { Shape } from "../status/shapes";
import { LanguageButton, ThemeButton } from "./Preferences";

/** Takes a token, or leads to the provider. What was typed stays when it is refused. */
export function SignIn({ ended, onDone }: { ended: boolean; onDone: (login: Login) => void }) {
  const say = useSay();
  const [token, setToken] = useState("");
  const [wrong, setWrong] = useState<string>();
  const [busy, setBusy] = useState(false);
  const methods = useQuery({ queryKey: ["methods"], queryFn: () => read<Schemas["LoginMethods"]>("/v1/session/methods"), staleTime: Infinity });

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setWrong(undefined);
    try {
      const login = await read<Login>("/v1/session", { method: "POST", body: { token: token.trim() } });
      setToken("");
      onDone(login);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };

  const back = encodeURIComponent(window.location.pathname + window.location.search);
  return (
    <main className="gate">
      <div className="gate-in">
        <form className="card" onSubmit={(event) => void submit(event)}>
          <div className="row mark"><Mark /><span>{say("app.name")}</span></div>
          <div><h1>{say("signin.title")}</h1><p className="sub">{say("signin.about")}</p></div>
          {ended && <div className="reasonbox heed"><Shape name="attention" /><div>{say("signin.ended")}</div></div>}
          <div>
            <label className="label" htmlFor="token">{say("signin.token")}</label>
            <textarea
              id="token" className={wrong ? "area wrong" : "area"} value={token} onChange={(event) => setToken(event.target.value)} required autoFocus
              spellCheck={false} autoComplete="off" aria-describedby={wrong ? "token-wrong" : undefined} aria-invalid={wrong !== undefined}
            />
            {wrong && <p id="token-wrong" className="small bad" role="alert" lang="en">{wrong}</p>}
          </div>
          <button type="submit" className="btn primary tall" aria-disabled={busy}>{busy ? say("signin.busy") : say("signin.button")}</button>
          {methods.data?.methods.includes("oidc") && <a className="btn tall" href={`/v1/session/oidc?return=${back}`}>{say("signin.oidc")}</a>}
          <p className="small sub">{say("signin.kept")}</p>
        </form>
        <div className="gate-help">
          <p className="small dim">{say("signin.hour")}</p>
          <Command text="kubectl create token my-account --duration=1h" />
          <p className="small dim">{say("signin.none")}</p>
          <Command text="windlass ui" />
        </div>
      </div>
      <div className="row gate-top"><LanguageButton /><ThemeButton /></div>
    </main>
  );
}
