import { defineConfig } from 'vitest/config'

// The pages in a real browser against a real core. Each file starts a core and a browser of its own; three at a time, because
// they wait more than they work.
export default defineConfig({
  test: { include: ['e2e/*.e2e.ts'], environment: 'node', maxWorkers: 3, testTimeout: 120_000, hookTimeout: 150_000 },
})
