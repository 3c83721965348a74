// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Everything that docs/guide/http-api.md does, in TypeScript: with types from the description of the API, and without any or a cast.
// Run it with the address of the API and a token. It changes the namespaces that it creates, and nothing else.

import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Schemas = components["schemas"];
type Problem = Schemas["Problem"];

const [base = "", token = "", namespace = "typescript"] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl: base, headers: { Authorization: `Bearer ${token}` } });

// In every language: a page translates codes, and the compiler says when one is missing.
const sentences: Partial<Record<Problem["code"], (problem: Problem) => string>> = {
  NotFound: (problem) => `${problem.parameters?.["kind"] ?? "?"} ${problem.parameters?.["name"] ?? "?"} 不存在`,
  AlreadyExists: (problem) => `${problem.parameters?.["name"] ?? "?"} 已存在`,
};

// need returns what the API answered, and throws its problem.
function need<T>(what: string, answer: { data?: T; error?: Problem }): T {
  if (answer.error !== undefined) {
    throw new Error(`${what}: ${answer.error.code}: ${answer.error.detail ?? answer.error.title}`);
  }
  if (answer.data === undefined) {
    throw new Error(`${what}: no data`);
  }
  return answer.data;
}

// refused returns the problem that the API has to answer with.
function refused(what: string, answer: { error?: Problem }): Problem {
  if (answer.error === undefined) {
    throw new Error(`${what} is not refused`);
  }
  return answer.error;
}

function check(what: string, holds: boolean): void {
  if (!holds) {
    throw new Error(what);
  }
}

const web: Schemas["DeploymentInput"] = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace, labels: { app: "web" } },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "nginx:alpine" }] } },
  },
};
const at = { ns: namespace, name: "web" };

// because says in words why a PodSet is not ready. The compiler knows all reasons.
function because(podSet: Schemas["PodSet"]): string {
  const ready = podSet.status?.conditions?.find((condition) => condition.type === "Ready");
  if (ready === undefined) {
    return "unknown";
  }
  switch (ready.reason) {
    case "PoolNotFound":
      return "the pool does not exist";
    case "RolledOut":
      return "all pods run";
    default:
      return ready.message;
  }
}

// logs in and out as a page does. A browser keeps the cookie itself, and shows it to no page.
async function session(): Promise<void> {
  const page = createClient<paths>({ baseUrl: base });
  check("methods", need("methods", await page.GET("/v1/session/methods")).methods.includes("token"));
  const begun = await page.POST("/v1/session", { body: { token } });
  const first = need("login", begun);
  check("until when", first.method === "token" && new Date(first.expiresAt ?? 0) > new Date());
  const headers = { Cookie: (begun.response.headers.getSetCookie()[0] ?? "").split(";")[0] ?? "" };
  const again = need("session", await page.GET("/v1/session", { headers }));
  check("who", again.user === first.user);
  need("services", await page.GET("/v1/services", { headers, params: { query: { ns: namespace } } }));
  check("logout", (await page.DELETE("/v1/session", { headers })).response.status === 204);
  check("over", refused("a session that has ended", await page.GET("/v1/session", { headers })).code === "SessionEnded");
}

async function reads(): Promise<void> {
  const me = need("me", await api.GET("/v1/me"));
  check("me", me.user !== "" && me.groups.length > 0);
  need("nodes", await api.GET("/v1/nodes")).items.map((node) => node.status?.nodeInfo?.kubeletVersion);
  need("namespaces", await api.GET("/v1/namespaces")).items.map((one) => one.metadata.name);
  need("pools", await api.GET("/v1/nodepools")).items.map((pool) => pool.status?.conditions?.map((one) => one.reason));
  need("pod sets", await api.GET("/v1/podsets")).items.map(because);
  need("tools", await api.GET("/v1/podbuggertools")).items.map((tool) => tool.spec.image);
  need("machines", await api.GET("/v1/virtualmachines")).items.map((machine) => machine.status?.phase);
  need("clusters", await api.GET("/v1/clusters")).items.map((cluster) => cluster.status?.conditions?.length);
  need("kubeconfigs", await api.GET("/v1/kubeconfigs")).items.map((one) => one.metadata.uid);
  const some = { ns: namespace, labelSelector: "app=web", sort: "-created", limit: 20 } as const;
  const services = need("services", await api.GET("/v1/services", { params: { query: some } }));
  services.items.map((service) => service.spec?.ports?.map((port) => port.targetPort));
  check("continue", services.metadata.continue === undefined);
  need("pods", await api.GET("/v1/pods", { params: { query: { ns: namespace } } })).items.map((pod) => pod.status?.phase);
  need("events", await api.GET("/v1/events", { params: { query: { ns: namespace, sort: "-created" } } })).items.map((one) => one.reason);
  need("replica sets", await api.GET("/v1/replicasets", { params: { query: { ns: namespace } } })).items.map((one) => one.spec?.replicas);
  const table = need("table", await api.GET("/v1/tables/{kind}", { params: { path: { kind: "nodes" } } }));
  check("columns", table.columnDefinitions[0]?.name === "Name" && table.kind === "Table");
  const kinds = need("kinds", await api.GET("/v1/kinds"));
  check("kinds", kinds.kinds.some((one) => one.name === "podsets" && one.namespaced && one.columns.some((column) => column.name === "Name")));
  need("schema", await api.GET("/v1/kinds/{kind}/schema", { params: { path: { kind: "podsets" } } }));
  const summary = need("summary", await api.GET("/v1/summary"));
  check("summary", summary.kinds.some((one) => one.kind === "deployments" && one.total >= 0));
  const hosts = need("hosts", await api.GET("/v1/hosts"));
  check("hosts", hosts.complete && hosts.hosts.every((host) => host.machines > 0 && host.requested.cpuCores >= 0));
  need("search", await api.GET("/v1/search", { params: { query: { q: "nginx" } } })).items.map((found) => `${found.kind} ${found.state}`);
  const rights = need("rights", await api.GET("/v1/rights", { params: { query: { ns: namespace } } }));
  check("rights", rights.namespaces[namespace]?.["deployments"]?.["create"] === true);
}

async function one(): Promise<void> {
  const deployment = need("get", await api.GET("/v1/deployments/{ns}/{name}", { params: { path: at } }));
  check("kind", deployment.kind === "Deployment" && deployment.metadata.uid !== "");
  const read = await api.GET("/v1/deployments/{ns}/{name}", { params: { path: at } });
  const tag = read.response.headers.get("ETag") ?? "";
  const again = await api.GET("/v1/deployments/{ns}/{name}", { params: { path: at, header: { "If-None-Match": tag } } });
  check("304", again.response.status === 304);
  const some = need("fields", await api.GET("/v1/deployments/{ns}/{name}", { params: { path: at, query: { fields: "spec.replicas" } } }));
  check("fields", some.spec?.replicas !== undefined && some.metadata.labels === undefined);
  const text = need("yaml", await api.GET("/v1/deployments/{ns}/{name}/yaml", { params: { path: at }, parseAs: "text" }));
  check("yaml", text.includes("kind: Deployment"));
  need("events", await api.GET("/v1/deployments/{ns}/{name}/events", { params: { path: at, query: { limit: 10 } } })).items.map((e) => e.message);
  const missing = refused("nothing", await api.GET("/v1/services/{ns}/{name}", { params: { path: { ns: namespace, name: "nothing" } } }));
  check("sentence", sentences[missing.code]?.(missing) === "services nothing 不存在");
}

async function writes(): Promise<void> {
  need("create", await api.POST("/v1/deployments", { body: web }));
  const twice = refused("a second one", await api.POST("/v1/deployments", { body: web }));
  check("sentence", sentences[twice.code]?.(twice) === "web 已存在");
  need("dry run", await api.PUT("/v1/deployments/{ns}/{name}", { params: { path: at, query: { dryRun: "All" } }, body: web }));
  need("apply", await api.PUT("/v1/deployments/{ns}/{name}", { params: { path: at }, body: web }));
  const scaled = need("scale", await api.PATCH("/v1/deployments/{ns}/{name}/scale", { params: { path: at }, body: { replicas: 3 } }));
  check("scaled", scaled.spec?.replicas === 3);
  const patched = need("patch", await api.PATCH("/v1/deployments/{ns}/{name}", {
    params: { path: at },
    body: { metadata: { labels: { team: "a" } } },
    headers: { "Content-Type": "application/merge-patch+json" },
  }));
  check("patched", patched.metadata.labels?.["team"] === "a");
  const held = refused("a conflict", await api.PUT("/v1/deployments/{ns}/{name}", {
    params: { path: at, query: { fieldManager: "windlass-console-guide" } },
    body: { ...web, spec: { ...web.spec, replicas: 5 } },
  }));
  check("conflict", held.errors?.[0]?.code === "FieldManagerConflict" && held.errors[0].parameters?.["manager"] === "windlass-api");
  const late = refused("a button of an old page", await api.POST("/v1/deployments/{ns}/{name}/restart", {
    params: { path: at, query: { uid: "gone", fieldManager: "windlass-console-restart" } },
  }));
  check("replaced", late.code === "Replaced" && late.parameters?.["uid"] === patched.metadata.uid);
  // What was read can be sent back as it is.
  const read = need("read", await api.GET("/v1/deployments/{ns}/{name}", { params: { path: at, query: { consistent: true } } }));
  need("replace", await api.PUT("/v1/deployments/{ns}/{name}", { params: { path: at, query: { replace: true } }, body: read }));
}

async function apps(): Promise<void> {
  const app = need("app", await api.POST("/v1/apps", { body: { name: "shop", namespace, image: "nginx:alpine", replicas: 2, port: 80 } }));
  check("app", app.deployment?.metadata.name === "shop" && app.service?.spec?.ports?.[0]?.port === 80);
  need("apps", await api.GET("/v1/apps", { params: { query: { ns: namespace } } })).items.map((one) => one.available);
  const gone = need("delete", await api.DELETE("/v1/apps/{ns}/{name}", { params: { path: { ns: namespace, name: "shop" } } }));
  check("deleted", gone.deployment === "deleted" && gone.service === "deleted");
}

// events yields what a stream says. A page uses EventSource, whose data is the same.
async function* events(kinds: string): AsyncGenerator<Schemas["WatchEvent"]> {
  const stop = new AbortController();
  const answer = await api.GET("/v1/watch", { params: { query: { kinds, ns: namespace, summary: true } }, parseAs: "stream", signal: stop.signal });
  const body: ReadableStream<Uint8Array> | null = need("watch", answer);
  if (body === null) {
    throw new Error("watch: no stream");
  }
  let rest = "";
  const decoder = new TextDecoder();
  try {
    for await (const part of body) {
      const lines = (rest + decoder.decode(part, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("data: ")) {
          const event: Schemas["WatchEvent"] = JSON.parse(line.slice("data: ".length));
          yield event;
        }
      }
    }
  } finally {
    stop.abort();
  }
}

// differences shows what a write would change, and whose fields it would take.
async function differences(): Promise<void> {
  const told = need("diff", await api.PUT("/v1/deployments/{ns}/{name}/diff", { params: { path: at }, body: { ...web, metadata: { ...web.metadata, labels: { app: "new" } } } }));
  const labels = told.changes.find((change) => change.path === ".metadata.labels.app");
  check(`the difference is ${JSON.stringify(told.changes)}`, labels?.after === "new" && labels.owners.every((owner) => owner.manager !== ""));
  check("conflicts", told.conflicts.every((conflict) => conflict.manager !== "" && conflict.path !== ""));
}

async function watches(): Promise<void> {
  const names: string[] = [];
  for await (const event of events("deployments,podsets")) {
    switch (event.type) {
      case "snapshot":
        if (event.kind === "deployments") {
          names.push(...event.items.map((deployment) => `${deployment.metadata.name} ${deployment.spec.replicas ?? 1}`));
        }
        continue;
      case "upsert":
        if (event.kind === "podsets") {
          names.push(because(event.object));
        }
        continue;
      case "delete":
        names.push(event.name);
        continue;
      case "summary":
        names.push(...event.kinds.map((one) => `${one.kind} ${one.failed} of ${one.total}: ${one.reasons[0]?.reason ?? "all work"}`));
        continue;
      case "denied":
        names.push(event.namespaces === null ? "all" : event.namespaces.join());
        continue;
      case "stale":
        names.push(`${event.behind.join()} since ${event.since}`);
        continue;
      case "fresh":
      case "beat":
        continue;
      case "resync":
        names.length = 0;
        continue;
      case "complete":
      case "expired":
        break;
    }
    break;
  }
  check(`the snapshot is ${names.join()}`, names.includes("web 3"));
}

async function pods(): Promise<void> {
  const nobody = { path: { ns: namespace, name: "nobody" } };
  refused("log", await api.GET("/v1/pods/{ns}/{name}/logs", { params: { ...nobody, query: { tailLines: 100 } }, parseAs: "text" }));
  const lines = await api.GET("/v1/deployments/{ns}/{name}/logs", { params: { path: at, query: { tailLines: 9, format: "json" } }, parseAs: "text" });
  check(`logs: ${lines.error?.code ?? ""}`, lines.error === undefined);
  const texts = (lines.data ?? "").split("\n").filter(Boolean).map((line): Schemas["LogLine"] => JSON.parse(line));
  check("no pods, no lines", texts.every((one) => one.notice === undefined && one.line === undefined));
  refused("debug", await api.POST("/v1/pods/{ns}/{name}/debug", { params: { ...nobody, query: { dryRun: "All" } }, body: { image: "busybox", command: ["sh"] } }));
  refused("evict", await api.POST("/v1/pods/{ns}/{name}/eviction", { params: { ...nobody, query: { dryRun: "All" } } }));
  refused("delete", await api.DELETE("/v1/pods/{ns}/{name}", { params: nobody }));
}

// why says what to do about an object, as a page would.
function advice(of: Schemas["Explanation"]): string {
  const failed = of.checks.find((one) => one.state === "Failed");
  const deeper = of.because === undefined ? "" : ` because ${advice(of.because)}`;
  return failed === undefined ? of.summary : `${failed.code ?? "?"}: ${failed.message ?? ""} ${failed.next?.text ?? ""} ${failed.next?.command ?? ""}${deeper}`;
}

async function reasons(): Promise<void> {
  const told = advice(need("why", await api.GET("/v1/deployments/{ns}/{name}/why", { params: { path: at } })));
  check(`why is ${told}`, told.includes("NotObserved")); // no controller of Deployments runs here
  const about = need("describe", await api.GET("/v1/deployments/{ns}/{name}/describe", { params: { path: at } }));
  const tree = about.children.map((one) => `${one.kind} ${one.name} ${one.state} ${one.reason ?? ""}`);
  check(`it has ${tree.join()}`, about.object.name === "web" && about.owners.length === 0 && about.leftOut === 0 && about.hidden.length === 0);
  refused("why of nothing", await api.GET("/v1/nodes/{name}/why", { params: { path: { name: "nowhere" }, query: { pool: "edge", key: "disk" } } }));
}

// sessions are WebSockets, whose refusals are problems before. The types know the parameters.
async function sessions(): Promise<void> {
  const nobody = { path: { ns: namespace, name: "nobody" } };
  const exec = await api.GET("/v1/pods/{ns}/{name}/exec", { params: { ...nobody, query: { command: ["ls", "-l"], stdout: true } } });
  check("426 for a request that opens no WebSocket", refused("exec", exec).code === "UpgradeRequired");
  const attach = await api.GET("/v1/pods/{ns}/{name}/attach", { params: { ...nobody, query: { stdin: true, stdout: true, tty: true } } });
  check("426 for attach", refused("attach", attach).code === "UpgradeRequired");
}

async function previews(): Promise<void> {
  const pool: Schemas["NodePoolInput"] = {
    apiVersion: "nodes.lailin.xyz/v1", kind: "NodePool", metadata: { name: "no-such" }, spec: { taints: [{ key: "edge", effect: "NoExecute" }] },
  };
  const seen = need("preview", await api.POST("/v1/nodepools/{name}/preview", { params: { path: { name: "no-such" } }, body: pool }));
  const lines = seen.nodes.flatMap((node) => node.changes.map((one) => `${node.name} ${node.membership} ${one.key}: ${one.before ?? "-"} -> ${one.after ?? "-"} ${one.pool ?? ""}`));
  check(`nothing is like ${lines.join()}`, seen.creates && seen.changed === 0 && !seen.braked && seen.podCount === 0);
}

async function actions(): Promise<void> {
  need("restart", await api.POST("/v1/deployments/{ns}/{name}/restart", { params: { path: at } }));
  const alone = refused("a rollback", await api.POST("/v1/deployments/{ns}/{name}/rollback", { params: { path: at }, body: { toRevision: 1 } }));
  check("no revision", alone.code === "NoRevision");
  check("paused", need("pause", await api.POST("/v1/deployments/{ns}/{name}/pause", { params: { path: at } })).spec.paused === true);
  need("resume", await api.POST("/v1/deployments/{ns}/{name}/resume", { params: { path: at } }));
  const machine: Schemas["VirtualMachineInput"] = {
    apiVersion: "cloudnative.tw/v1alpha1", kind: "VirtualMachine", metadata: { name: "vm", namespace }, spec: { resource: { cpu: "1" } },
  };
  need("machine", await api.POST("/v1/virtualmachines", { body: machine }));
  const vm = { params: { path: { ns: namespace, name: "vm" } } };
  const still = need("suspend", await api.POST("/v1/virtualmachines/{ns}/{name}/power", { ...vm, body: { state: "suspend" } }));
  check("suspended", still.spec.runStrategy === "Suspended");
  const off = need("off", await api.POST("/v1/virtualmachines/{ns}/{name}/power", { ...vm, body: { state: "off", mode: "Hard" } }));
  check("halted", off.spec.runStrategy === "Halted" && off.spec.powerOff?.mode === "Hard");
  need("resize", await api.POST("/v1/virtualmachines/{ns}/{name}/resize", { ...vm, body: { cpu: "2", memory: "4Gi" } }));
  const output = { ...vm.params, query: { tailLines: 100, follow: false } };
  const elsewhere = refused("output", await api.GET("/v1/virtualmachines/{ns}/{name}/console/output", { params: output, parseAs: "text" }));
  check("only the manager reaches hosts", elsewhere.code === "NoHosts");
  const run = { path: { name: "nowhere" } };
  check("runs", refused("runs", await api.GET("/v1/clusters/{name}/runs", { params: run })).code === "NoHosts");
  refused("log", await api.GET("/v1/clusters/{name}/log", { params: { ...run, query: { run: "up-1", tailLines: 9 } }, parseAs: "text" }));
  const used = need("usage", await api.GET("/v1/usage/virtualmachines/{ns}/{name}", vm));
  check("no usage yet", used.measured && used.series.length === 0 && used.current === undefined);
  refused("usage of a node", await api.GET("/v1/usage/nodes/{name}", { params: { path: { name: "nowhere" } } }));
  const gone = refused("a drain", await api.POST("/v1/nodes/{name}/drain", { params: { path: { name: "nowhere" }, query: { dryRun: "All" } } }));
  check("no node", gone.code === "NotFound");
}

await session();
await reads();
await writes();
await one();
await differences();
await apps();
await watches();
await pods();
await reasons();
await sessions();
await previews();
await actions();
const deleted = need("delete", await api.DELETE("/v1/deployments/{ns}/{name}", { params: { path: at, query: { propagationPolicy: "Foreground" } } }));
check("deleted", deleted.kind === "Deployment" ? deleted.metadata.deletionTimestamp !== undefined : deleted.status === "Success");
console.log("done");
