import { defineConfig } from 'vitest/config'

// The pages in a real browser against a real core. One file after another: each starts a core and a browser of its own.
export default defineConfig({
  test: { include: ['e2e/*.e2e.ts'], environment: 'node', fileParallelism: false, testTimeout: 120_000, hookTimeout: 60_000 },
})
