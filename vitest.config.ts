import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

/** They replace modules for themselves, or change what all files of a process share. */
const ALONE = [
  'src/cli/commands/demo.answer.test.ts',
  'src/cli/output/timeline.test.ts',
  'src/features/browser/start/find-chromium.load-playwright.test.ts',
  'src/sandbox/files/files-root.open-roots.alone.test.ts',
  'src/sandbox/files/read/list-unreadable.test.ts',
]

/** What the file guard does, whichever way it reaches files. */
const FILES = [
  'src/sandbox/files/**/*.test.ts',
  'src/sandbox/protected/**/*.test.ts',
  'src/tools/fs/**/*.test.ts',
  'test/race.test.ts',
]

/** Those of them that reach no file by the guard, or try both ways themselves. */
const FILES_EITHER_WAY = [
  'src/sandbox/files/access/*.test.ts',
  'src/sandbox/files/search/ignore-rules*.test.ts',
  'src/sandbox/files/search/file-report.rg-messages.test.ts',
  'src/sandbox/protected/git-*.test.ts',
  'src/tools/fs/edit/*.test.ts',
]

export default defineConfig({
  test: {
    projects: [
      // Most files can share a process: to load everything anew for each takes a minute in all.
      {
        extends: true,
        test: {
          name: 'together',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'console/src/**/*.test.ts'],
          exclude: ALONE,
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
      // Once more as on a machine without /proc, such as a Mac.
      {
        extends: true,
        resolve: {
          alias: [{ find: /^.*\/choose-access\.ts$/, replacement: resolve('test/support/choose-path-access.ts') }],
        },
        test: { name: 'paths', include: FILES, exclude: [...ALONE, ...FILES_EITHER_WAY], isolate: false },
      },
    ],
    globalSetup: ['./test/support/run-folder.ts', './test/support/join-own-modules.ts'],
    setupFiles: './test/support/check-temporary-folder.ts',
    reporters: ['default', './scripts/closing-line-reporter.mjs'],
    // More than there are cores: a third of the time tests wait for processes, timers and disks.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // Nothing depends on speed: a slow machine is no failure.
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    expect: { poll: { timeout: 60_000 } },
    allowOnly: false,
  },
})
