// Every package that the console depends on is in use: what nobody imports is downloaded, audited and licensed for nothing.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const web = fileURLToPath(new URL("..", import.meta.url));

test("every dependency is imported", () => {
  const { dependencies } = JSON.parse(readFileSync(join(web, "package.json"), "utf8"));
  const files = readdirSync(join(web, "src"), { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
  const imported = new Set(files.flatMap((name) => [...readFileSync(join(web, "src", name), "utf8").matchAll(/(?:from|import)\s*\(?\s*"([^".][^"]*)"/g)].map(([, from]) => from)));
  expect(Object.keys(dependencies).filter((name) => ![...imported].some((from) => from === name || from.startsWith(`${name}/`)))).toEqual([]);
});
