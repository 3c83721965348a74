// Creates an object of every kind with its form, by clicks alone, and asks the API server what came of it.
import { owners } from "./cluster.mjs";
import { open, ready, right, settled } from "./page.mjs";

const manager = "windlass-console-create";
/** The name of what is made: a pod set has a Deployment of its name. */
export const nameOf = (plural) => (plural === "deployments" || plural === "services" ? "made-app" : "made");
/** What the tool refuses, so that its runs are short: two nodes of one name. */
const config = `cluster_name: made
nodes:
- {address: 10.40.4.1, hostname_override: twin, user: windlass, role: [controlplane, etcd]}
- {address: 10.40.4.2, hostname_override: twin, user: windlass, role: [worker]}
`;

/** What is typed into which field, what the button says, and what the API server has then. */
const forms = {
  podsets: {
    start: "New pod set", done: "Create pod set made", namespaced: true, owned: ["f:spec", "f:size"],
    fill: async (form) => {
      await form.getByLabel("Image").fill("registry.example/made:1");
      await form.getByRole("button", { name: "One more" }).click();
      await form.getByRole("radio", { name: /^Any node/ }).check();
    },
    holds: ({ spec }) => spec.size === 2 && spec.template.spec.containers[0].image === "registry.example/made:1" && spec.nodePool === undefined,
  },
  deployments: {
    route: "apps", start: "New app", done: "Create app made-app", namespaced: true,
    fill: async (form) => {
      await form.getByLabel("Image").fill("registry.example/app:1");
      await form.getByRole("button", { name: "NodePort" }).click();
      await form.getByLabel("Port of the Service").fill("8080");
    },
    holds: ({ spec }) => spec.replicas === 1 && spec.template.spec.containers[0].image === "registry.example/app:1",
  },
  virtualmachines: {
    start: "New machine", done: "Create machine made", namespaced: true, owned: ["f:spec", "f:resource", "f:cpu"],
    fill: async (form) => {
      await form.getByRole("group", { name: "Driver" }).getByRole("button", { name: "simulated" }).click();
      await form.getByLabel("CPU").fill("2");
      await form.getByLabel("Memory").fill("2Gi");
    },
    holds: ({ spec }) => spec.driver === "simulated" && String(spec.resource.cpu) === "2" && spec.resource.memory === "2Gi",
  },
  podbuggertools: {
    start: "New debug tool", done: "Create debug tool made", namespaced: true, owned: ["f:spec", "f:label"],
    fill: (form) => form.getByLabel("Pods with the label").fill("app=nothing"),
    holds: ({ spec }) => spec.label === "app=nothing" && spec.image === "busybox",
  },
  nodepools: {
    start: "New pool", done: "Create pool made", owned: ["f:spec", "f:labels", "f:example.com/made"],
    fill: async (form) => {
      await form.getByLabel("Members by label").fill("kubernetes.io/hostname=worker-11");
      await form.getByLabel("Labels for the members").fill("example.com/made=yes");
    },
    holds: ({ spec }) => spec.dryRun === true && spec.labels["example.com/made"] === "yes" && spec.nodeSelector.matchLabels["kubernetes.io/hostname"] === "worker-11",
  },
  clusters: {
    start: "New cluster", done: "Create cluster made", owned: ["f:spec", "f:approval"],
    fill: async (form) => {
      await form.getByRole("group", { name: "Tool" }).getByRole("button", { name: "devcluster" }).click();
      await form.getByLabel("Configuration of the tool").fill(config);
    },
    holds: ({ spec }) => spec.provisioner === "devcluster" && spec.approval === "Manual" && spec.config.inline.trim() === config.trim(),
  },
  kubeconfigs: {
    start: "New kubeconfig", done: "Create kubeconfig made", owned: ["f:spec", "f:clusterRole"],
    fill: (form) => form.getByRole("combobox", { name: "Cluster" }).selectOption("lab"),
    holds: ({ spec }) => spec.clusterRef.name === "lab" && spec.clusterRole === "view" && spec.expirationSeconds === 3600,
  },
};

/** Creates one object of each of these kinds. */
export async function create(page, cluster, namespace, plurals) {
  for (const plural of plurals) await createOne(page, cluster, namespace, plural).catch(async (error) => {
    throw new Error(`${plural}: the page says ${await page.locator(".coming").allInnerTexts()}: ${error.stack}`);
  });
}

/** The form is also a text, which says what the field at the cursor means. */
async function asText(page) {
  const view = page.getByRole("group", { name: "View" });
  await view.getByRole("button", { name: "YAML" }).click();
  await page.locator(".cm-line", { hasText: /^spec:/ }).click();
  await page.locator(".help code", { hasText: /^spec$/ }).waitFor();
  await view.getByRole("button", { name: "Form" }).click();
}

async function createOne(page, cluster, namespace, plural) {
  const of = forms[plural];
  const name = nameOf(plural);
  const where = of.namespaced ? namespace : undefined;
  await open(page, `/${plural}${where ? `?ns=${where}` : ""}`);
  await page.getByRole("link", { name: of.start }).click();
  await page.waitForURL(`**/create/${of.route ?? plural}*`);
  await settled(page);
  const form = page.locator(".form");
  await form.getByLabel("Name", { exact: true }).fill(name);
  await of.fill(form);
  await page.locator(".coming .st.ready").first().waitFor(); // the API server has tried it
  if (plural === "podsets") await asText(page);
  right((await cluster.get(plural, where, name)) === undefined, `${plural}: it is there before it was created`);
  await ready(page, of.done).click();
  await page.waitForURL(`**/${plural}/${where ? `${where}/` : ""}${name}*`);
  await settled(page);
  const object = await cluster.get(plural, where, name);
  right(object && of.holds(object), `${plural}: what was created is not what was typed: ${JSON.stringify(object?.spec)}`);
  if (of.owned) right(object && owners(object, ...of.owned).join() === manager, `${plural}: ${of.owned.join(".")} is owned by ${object && owners(object, ...of.owned)}, want ${manager}`);
  if (plural === "deployments") {
    const service = await cluster.get("services", where, name);
    right(service?.spec.type === "NodePort" && service.spec.ports[0].port === 8080, `the Service of the app is not as typed: ${JSON.stringify(service?.spec)}`);
  }
}
