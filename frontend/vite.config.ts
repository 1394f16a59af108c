import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` serves the sources and passes everything of the server's on to it.
const server = process.env.REEVE_SERVER ?? "http://127.0.0.1:8080";
const passed = Object.fromEntries(
  ["/api", "/problems", "/healthz", "/readyz"].map((path) => [path, { target: server, changeOrigin: false }]),
);

export default defineConfig({
  plugins: [react()],
  server: { proxy: passed },
  build: {
    target: "es2022",
    // Charts come only with the pages that draw them; the budget counts them apart.
    chunkSizeWarningLimit: 1600,
    modulePreload: { polyfill: false },
    sourcemap: false,
    assetsInlineLimit: 0,
  },
  test: { environment: "happy-dom", include: ["tests/**/*.test.{ts,tsx}"], restoreMocks: true },
});
