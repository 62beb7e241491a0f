import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    reporters: ['default', './scripts/closing-line-reporter.mjs'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    allowOnly: false,
  },
})
