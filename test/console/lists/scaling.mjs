// Scales several objects at once, and takes it back.
import { ready, right, takeBack } from "../page.mjs";

/** A pod set that somebody has made: from the console, or with what else there is. */
async function create(page, namespace, name, size, manager) {
  const made = await page.evaluate(async ([at, object]) => (await fetch(at, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(object) })).ok, [
    `/v1/podsets?ns=${namespace}&fieldManager=windlass-console-${manager}`, { apiVersion: "apps.jicki.cn/v1alpha1", kind: "PodSet", metadata: { name }, spec: { size } },
  ]);
  right(made, `${name} is not created`);
}

/** Pod sets of different sizes get one, with the very commands before anything is sent, and each its own back. train has a size that another manager has set. */
export async function scaling({ page, open, row, read, until, look, namespace }) {
  await open("/podsets");
  await create(page, namespace, "sized-a", 1, "create");
  await create(page, namespace, "sized-b", 3, "create");
  const size = async (name) => (await read(`/v1/podsets/${namespace}/${name}`)).spec.size;
  const are = async (...wanted) => (await Promise.all(["sized-a", "sized-b", "train"].map(size))).join() === wanted.join();
  const sent = [];
  page.on("request", (request) => { if (request.method() === "PATCH") sent.push(new URL(request.url())); });
  const bar = page.getByRole("region", { name: "What is selected" });
  const dialog = page.getByRole("dialog");
  const number = dialog.getByLabel("Number of pods");

  // By keyboard alone: S sizes what is selected.
  await open(`/podsets?ns=${namespace}&q=sized`);
  await row("sized-a").focus();
  await page.keyboard.press("x");
  await page.keyboard.press("Shift+ArrowDown");
  await bar.getByText("2 selected").waitFor();
  await page.keyboard.press("s");
  await number.waitFor();
  right((await number.inputValue()) === "3", `the dialog begins with ${await number.inputValue()}, want the largest size`);
  await page.waitForFunction(() => document.activeElement?.matches("[role=dialog] input"));
  await page.keyboard.type("5"); // in place of what was there
  await dialog.locator("code", { hasText: `kubectl scale podset sized-a sized-b -n ${namespace} --replicas=5` }).waitFor();
  await dialog.getByText("from 1 to 5").waitFor();
  await dialog.getByText("from 3 to 5").waitFor();
  await look("dialog that scales two");
  right(sent.length === 0 && (await are(1, 3, 6)), "something is sent before it is ordered");
  await Promise.all([takeBack(page), page.keyboard.press("Enter")]);
  await dialog.waitFor({ state: "detached" });
  await until("each has its own size again", async () => sent.length === 4 && (await are(1, 3, 6)));
  right(sent.every(({ searchParams }) => (searchParams.get("uid") ?? "") !== ""), "a size is set without the UID of the object");

  // Where another manager has set the size, it is left or taken over, and what was done is taken back from the dialog.
  await open(`/podsets?ns=${namespace}`);
  for (const name of ["sized-a", "sized-b", "train"]) await row(name).getByRole("checkbox").check();
  await bar.getByRole("button", { name: "Scale 3" }).waitFor();
  await page.keyboard.press("s"); // at the box that was checked last
  await number.waitFor();
  right((await number.inputValue()) === "6", `the dialog begins with ${await number.inputValue()}, want the largest size`);
  await dialog.getByText("stays at 6").waitFor();
  await dialog.getByRole("button", { name: "One less" }).click();
  await ready(dialog, "Scale 3").click();
  await ready(dialog, "Take 1 over").waitFor();
  await dialog.getByText("Scale: 2 of 3").waitFor();
  right((await page.locator(".toast", { hasText: "Scale: 2 of 3" }).count()) === 0, "a failure that the dialog tells of stays beside it");
  await look("dialog that has scaled two of three");
  right(await are(5, 5, 6), "the size that another manager has set is not as it was");
  await ready(dialog, "Undo 2").click();
  await ready(dialog, "Scale 2").waitFor();
  await until("two have their own size again", () => are(1, 3, 6));
  await ready(dialog, "Scale 2").click();
  await Promise.all([takeBack(page), ready(dialog, "Take 1 over").click()]);
  await until("all have their own size again", () => are(1, 3, 6));
  await dialog.waitFor({ state: "detached" });
  await bar.waitFor({ state: "detached" });
}
