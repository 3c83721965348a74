import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The server fills in a nonce for each answer, and compresses nothing: build/pack.mjs has done it.
export default defineConfig({
  plugins: [react()],
  html: { cspNonce: "NONCE-OF-THE-ANSWER" },
  // A busy machine takes its time: the limit ends tests that hang, and judges no speed.
  test: { include: ["src/**/*.test.ts", "build/*.test.mjs"], testTimeout: 120_000 },
  build: {
    outDir: "../internal/gateway/console/dist/app",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/v1": process.env["WINDLASS"] ?? "http://127.0.0.1:8090", "/openapi.json": process.env["WINDLASS"] ?? "http://127.0.0.1:8090" } },
});
