import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { read, Refusal, send, whenSignedOut } from "../api/client";
import type { Login, Rights } from "../api/types";
import { useLink } from "../live/hooks";
import { draftsOf, forgetDrafts } from "../editor/draft";
import { store } from "../live/store";
import { shareStream, tellOut } from "../live/share";
import { Failure } from "../components/parts";
import { SignIn } from "./SignIn";

/** Who is signed in. What was typed here belongs to whom it was. */
async function whoIs(): Promise<Login> {
  const login = await read<Login>("/v1/session");
  draftsOf(login.user);
  return login;
}

const session = { queryKey: ["session"], queryFn: whoIs, retry: false, staleTime: Infinity } as const;

export function useLogin(): Login | undefined {
  return useQuery(session).data;
}

/** How often rights are asked for again while one is missing: what is granted opens by itself, also where nothing else is asked for. */
const again = 30_000;

function lacks(rights: Rights | undefined): boolean {
  return rights !== undefined && [rights.everywhere, ...Object.values(rights.namespaces)].some((kinds) => Object.values(kinds).some((actions) => Object.values(actions).includes(false)));
}

/** Asks again in one place: a page asks for the same rights in many. */
function useGrants(client: QueryClient, signedIn: boolean): void {
  useEffect(() => {
    if (!signedIn) return undefined;
    const look = () => {
      if (document.visibilityState !== "hidden") void client.refetchQueries({ queryKey: ["rights"], type: "active", predicate: ({ state }) => lacks(state.data as Rights | undefined) });
    };
    const timer = setInterval(look, again);
    return () => clearInterval(timer);
  }, [client, signedIn]);
}

/** What the caller may do, for the namespace of a page. */
export function useRights(namespace?: string): Rights | undefined {
  return useQuery({
    queryKey: ["rights", namespace ?? ""], staleTime: again,
    queryFn: () => read<Rights>(`/v1/rights${namespace ? `?ns=${encodeURIComponent(namespace)}` : ""}`),
  }).data;
}

/** Whether the caller may list a kind in all namespaces, so that sums of it are whole; undefined while nobody knows. */
export function useListsAll(plural: string): boolean | undefined {
  return useRights()?.everywhere[plural]?.["list"];
}

/** Whether an action is allowed; true while nobody knows, because the API server decides in any case. */
export function may(rights: Rights | undefined, plural: string, namespace: string | undefined, action: string): boolean {
  if (!rights) return true;
  const there = namespace === undefined ? undefined : rights.namespaces[namespace]?.[plural]?.[action];
  return rights.everywhere[plural]?.[action] === true || there === true;
}

/** Whether the page is on its way out: what it still shows is not asked to sign in again. */
let leaving = false;

/** Leaves the page with all that it knows: another one who signs in sees and saves nothing of it, in other tabs neither. */
function leave(user: string): void {
  leaving = true;
  tellOut(user);
  store.clear();
  forgetDrafts();
  window.location.assign("/");
}

/** Takes in who has signed in over the page. What is there stays until it is read anew, and nobody waits for that: one answer can take long. */
export function takeIn(client: QueryClient, login: Login): void {
  client.setQueryData(session.queryKey, login);
  store.setLink("connecting");
  void client.invalidateQueries();
}

/** The page behind the sign-in. Somebody whose session ends signs in over the page, which stays as it was; another one gets a new page. */
export function Gate({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const link = useLink();
  const [ended, setEnded] = useState(false);
  const { data, error, isPending, refetch } = useQuery(session);
  const signedIn = data !== undefined && !ended;
  const user = data?.user;
  const entering = useRef(false);
  const enter = useCallback((login: Login) => {
    if (user !== undefined && login.user !== user) return leave(user);
    draftsOf(login.user);
    takeIn(client, login);
    setEnded(false);
  }, [client, user]);

  useEffect(() => whenSignedOut(() => { store.setLink("expired"); setEnded(true); }), []);
  useEffect(() => { if (link === "expired" && !leaving) setEnded(true); }, [link]);
  useEffect(() => (signedIn && user !== undefined ? shareStream(store, user) : undefined), [signedIn, user]);
  useGrants(client, signedIn);
  // Somebody has perhaps signed in in another tab meanwhile.
  useEffect(() => {
    if (signedIn || isPending) return undefined;
    const look = () => {
      if (document.visibilityState === "hidden" || entering.current) return;
      entering.current = true;
      void read<Login>("/v1/session").then(enter).catch(() => undefined).finally(() => { entering.current = false; }); // nobody has
    };
    window.addEventListener("focus", look);
    document.addEventListener("visibilitychange", look);
    return () => {
      window.removeEventListener("focus", look);
      document.removeEventListener("visibilitychange", look);
    };
  }, [signedIn, isPending, enter]);

  if (isPending) return null;
  const nobody = error instanceof Refusal && error.problem.status === 401;
  // Who is known stays: it was only asked for again.
  if (error && !nobody && !data) return <main className="main"><Failure error={error} again={() => void refetch()} /></main>;
  // What is behind the sign-in stays as it was, and nobody gets into it.
  return <>{data && <div className="behind" inert={!signedIn}>{children}</div>}{!signedIn && <SignIn ended={ended} onDone={enter} />}</>;
}

export async function signOut(user: string): Promise<void> {
  await send("/v1/session", { method: "DELETE" });
  leave(user);
}
