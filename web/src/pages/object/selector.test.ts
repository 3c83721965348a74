import { expect, test } from "vitest";
import type { Objects } from "../../api/types";
import { podsOf } from "./selector";

const pod = (name: string, labels: Record<string, string>) => ({ apiVersion: "v1", kind: "Pod", metadata: { name, labels } }) as Objects["pods"];
const pods = [pod("stable", { app: "web", track: "stable" }), pod("canary", { app: "web", track: "canary" }), pod("db", { app: "db" })];
const names = (selector: Parameters<typeof podsOf>[1]) => podsOf(pods, selector).map(({ metadata }) => metadata.name);

test("pods that an expression leaves out are not those of a Deployment", () => {
  expect(names({ matchLabels: { app: "web" } })).toEqual(["stable", "canary"]);
  expect(names({ matchLabels: { app: "web" }, matchExpressions: [{ key: "track", operator: "NotIn", values: ["canary"] }] })).toEqual(["stable"]);
  expect(names({ matchExpressions: [{ key: "track", operator: "Exists" }] }), "expressions alone").toEqual(["stable", "canary"]);
  expect([names({}), names(undefined)]).toEqual([[], []]);
});
