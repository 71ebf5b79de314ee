import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // A browser each; the house's builds run beside them.
    maxWorkers: 2,
    minWorkers: 1,
  },
});
