import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    reporters: ['default', './scripts/closing-line-reporter.mjs'],
    // Unless said, one core is left idle; on a machine of two that is half of it.
    maxWorkers: '100%',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    allowOnly: false,
  },
})
