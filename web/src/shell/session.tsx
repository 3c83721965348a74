import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { read, Refusal, send, whenSignedOut } from "../api/client";
import type { Login, Rights } from "../api/types";
import { useLink } from "../live/hooks";
import { forgetDrafts } from "../editor/draft";
import { store } from "../live/store";
import { shareStream } from "../live/share";
import { Failure } from "../components/parts";
import { SignIn } from "./SignIn";

export function useLogin(): Login | undefined {
  return useQuery({ queryKey: ["session"], queryFn: () => read<Login>("/v1/session"), retry: false, staleTime: Infinity }).data;
}

/** What the caller may do, for the namespace of a page. */
export function useRights(namespace?: string): Rights | undefined {
  return useQuery({
    queryKey: ["rights", namespace ?? ""], staleTime: 30_000,
    queryFn: () => read<Rights>(`/v1/rights${namespace ? `?ns=${encodeURIComponent(namespace)}` : ""}`),
  }).data;
}

/** Whether an action is allowed; true while nobody knows, because the API server decides in any case. */
export function may(rights: Rights | undefined, plural: string, namespace: string | undefined, action: string): boolean {
  if (!rights) return true;
  const there = namespace === undefined ? undefined : rights.namespaces[namespace]?.[plural]?.[action];
  return rights.everywhere[plural]?.[action] === true || there === true;
}

/** The page behind the sign-in. Somebody whose session ends signs in over the page, which stays as it was. */
export function Gate({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const link = useLink();
  const [ended, setEnded] = useState(false);
  const session = useQuery({ queryKey: ["session"], queryFn: () => read<Login>("/v1/session"), retry: false, staleTime: Infinity });
  const signedIn = session.data !== undefined && !ended;

  useEffect(() => whenSignedOut(() => { store.setLink("expired"); setEnded(true); }), []);
  useEffect(() => { if (link === "expired") setEnded(true); }, [link]);
  useEffect(() => (signedIn ? shareStream(store) : undefined), [signedIn]);

  if (session.isPending) return null;
  const nobody = session.error instanceof Refusal && session.error.problem.status === 401;
  if (session.error && !nobody) return <main className="main"><Failure error={session.error} again={() => void session.refetch()} /></main>;
  const enter = async () => {
    store.setLink("connecting");
    await client.invalidateQueries();
    setEnded(false);
  };
  // What is behind the sign-in stays as it was, and nobody gets into it.
  return <>{session.data && <div className="behind" inert={!signedIn}>{children}</div>}{!signedIn && <SignIn ended={ended} onDone={() => void enter()} />}</>;
}

export async function signOut(): Promise<void> {
  await send("/v1/session", { method: "DELETE" });
  store.clear();
  forgetDrafts();
  window.location.assign("/");
}
