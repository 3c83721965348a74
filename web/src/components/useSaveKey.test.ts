import { expect, test } from "vitest";
import { offerSave, pressSave } from "./useSaveKey";

/** Presses Ctrl S, and says whether the browser's own "save page" was kept from it. */
function press(dialogs: number, more: { key?: string; repeat?: boolean; defaultPrevented?: boolean } = {}): boolean {
  let kept = false;
  pressSave({ key: "s", ctrlKey: true, metaKey: false, altKey: false, shiftKey: false, repeat: false, defaultPrevented: false, preventDefault: () => { kept = true; }, ...more }, dialogs);
  return kept;
}

test("Ctrl S is for the dialog that lies over an editor, and for the editor again afterwards", () => {
  const did: string[] = [];
  const page = offerSave({ save: () => did.push("page"), within: 0 });
  const dialog = offerSave({ save: () => did.push("dialog"), within: 1 });
  press(1);
  dialog();
  press(0);
  page();
  expect([did, press(0)]).toEqual([["dialog", "page"], false]);
});

test("Ctrl S saves nothing that is under a dialog", () => {
  const did: string[] = [];
  const ends = [offerSave({ save: () => did.push("page"), within: 0 })];
  expect(press(1), "the browser would save the page").toBe(true);
  ends.push(offerSave({ save: () => did.push("dialog"), within: 1 }));
  press(2);
  for (const end of ends) end();
  expect(did).toEqual([]);
});

test("Ctrl S that is held down saves once, and what an editor has taken is not taken again", () => {
  const did: string[] = [];
  const end = offerSave({ save: () => did.push("page"), within: 0 });
  press(0);
  for (let times = 0; times < 3; times++) press(0, { repeat: true });
  press(0, { defaultPrevented: true });
  press(0, { key: "x" });
  end();
  expect(did).toEqual(["page"]);
});
