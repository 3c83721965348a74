// Runs pack.mjs on a console of one script.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";

const top = mkdtempSync(join(tmpdir(), "windlass pack-"));
afterEach(() => rmSync(top, { recursive: true }));

test("a checkout whose path has a space", () => {
  const assets = join(top, "internal/gateway/console/dist/app/assets");
  mkdirSync(assets, { recursive: true });
  mkdirSync(join(top, "web/build"), { recursive: true });
  cpSync(fileURLToPath(new URL("pack.mjs", import.meta.url)), join(top, "web/build/pack.mjs"));
  writeFileSync(join(assets, "a-1.js"), "1;");
  writeFileSync(join(assets, "../index.html"), '<script src="/assets/a-1.js"></script>');
  const said = execFileSync(process.execPath, [join(top, "web/build/pack.mjs")], { encoding: "utf8" });
  expect(readdirSync(assets)).toEqual(["a-1.js.gz"]);
  expect(said).toMatch(/, 1 file\n$/);
});
