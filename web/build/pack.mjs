// Compresses what vite has built, as it is embedded and served, and fails if the first load is too much.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const app = fileURLToPath(new URL("../../internal/gateway/console/dist/app/", import.meta.url));
const budget = 220 * 1024;

const sizes = new Map();
for (const name of readdirSync(join(app, "assets"))) {
  const path = join(app, "assets", name);
  const packed = gzipSync(readFileSync(path), { level: 9 });
  writeFileSync(path + ".gz", packed);
  rmSync(path);
  sizes.set("/assets/" + name, packed.length);
}

// What the page names is loaded at once; the rest when it is needed.
const page = readFileSync(join(app, "index.html"), "utf8");
const first = [...sizes].filter(([path]) => page.includes(path));
const total = first.reduce((sum, [, size]) => sum + size, gzipSync(page).length);
console.log(`first load ${(total / 1024).toFixed(1)} KB of ${budget / 1024} KB, ${sizes.size === 1 ? "1 file" : `${sizes.size} files`}`);
if (total > budget) {
  console.error("the first load is over its budget: load something later");
  process.exit(1);
}
