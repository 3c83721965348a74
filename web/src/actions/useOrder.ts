import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Refusal, send, type Send } from "../api/client";
import type { KubeObject } from "../api/types";
import { announce } from "../components/announce";
import { tell, tellFailure } from "../components/toasts";
import { useSay } from "../i18n";
import type { Kind } from "../kinds/registry";
import { decided, isClash, taken } from "./clash";
import type { Order, Target } from "./commands";

export function targetOf(kind: Kind, object: KubeObject): Target {
  return { kind, namespace: object.metadata.namespace, name: object.metadata.name ?? "", uid: object.metadata.uid ?? "" };
}

/** Sends what a button does. */
export async function sendOrder(order: Order): Promise<Response> {
  const options: Send = { method: order.method };
  if (order.body !== undefined) options.body = order.body;
  if (order.type !== undefined) options.type = order.type;
  return send(order.path, options);
}

/** The reader leaves a field to the one who has set it: nothing was done, and nothing failed. */
class Left extends Error {}

/**
 * Sends an order; undo is what takes it back. A quiet one has its result where it was pressed, and no toast that would lie over it. There is
 * an answer if it was done.
 */
type Run = (order: Order, label: string, name: string, more?: { undo?: Order | undefined; quiet?: boolean }) => Promise<Response | undefined>;

/** Sends an order and tells its result. What is refused is said in the server's words and stays on the page. */
export function useOrder(): { run: Run; busy: boolean; failed: Error | undefined } {
  const say = useSay();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<Error>();
  const run: Run = async (order, label, name, { undo, quiet } = {}) => {
    setBusy(true);
    setFailed(undefined);
    try {
      const answer = await sendOrder(order).catch(async (cause: unknown) => {
        if (!isClash(cause)) throw cause;
        if (await decided({ order, label, name, fields: cause.problem.errors ?? [] }) === "leave") throw new Left();
        return sendOrder(taken(order));
      });
      if (quiet) announce(say("action.done", { action: label, name }));
      else tell(say("action.done", { action: label, name }), undo && (() => void run(undo, say("action.undo"), name)));
      void client.invalidateQueries({ queryKey: ["why"] });
      void client.invalidateQueries({ queryKey: ["yaml"] });
      return answer;
    } catch (cause) {
      if (cause instanceof Left) return undefined;
      const error = cause instanceof Error ? cause : new Error(String(cause));
      setFailed(error);
      const first = error instanceof Refusal ? error.problem.errors?.[0]?.message : undefined;
      tellFailure(say("action.failed", { message: first ? `${error.message} ${first}` : error.message }), error);
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return { run, busy, failed };
}
