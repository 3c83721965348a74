import { expect, test } from "vitest";
import { offerSize, sizeKey, wantSize } from "./sizing";

test("S leads to the stepper of an object, which comes later or is there already", () => {
  const focused: string[] = [];
  const [web, api] = [sizeKey("podsets", "ml", "web"), sizeKey("podsets", "ml", "api")];
  wantSize(web);
  const end = offerSize(web, () => focused.push("web"));
  expect(focused).toEqual(["web"]);
  wantSize(web);
  expect(focused).toEqual(["web", "web"]);
  end();
  wantSize(web);
  // Somebody has gone to another page meanwhile: neither takes the focus by itself.
  offerSize(api, () => focused.push("api"))();
  offerSize(web, () => focused.push("late"))();
  expect(focused).toEqual(["web", "web"]);
});
