import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { SlowFirst } from './test/support/slow-first.ts'

/** They replace modules for themselves, change what all files of a process share, or measure what a large heap slows. */
const ALONE = [
  'packages/tool-hub/src/cli/commands/demo.answer.test.ts',
  'packages/tool-hub/src/cli/output/timeline.test.ts',
  'packages/browser/src/start/find-chromium.load-playwright.test.ts',
  'packages/policy/src/evidence/search-budget.test.ts',
  'packages/sandbox/src/files/files-root.open-roots.alone.test.ts',
  'packages/sandbox/src/files/read/list-unreadable.test.ts',
]

/** What reaches the disk by names below open folders, and so differs where there is no /proc. */
const BY_NAMES = [
  'packages/sandbox/src/files/change/**/*.test.ts',
  'packages/sandbox/src/files/{walk,files-root,files-root.open-roots}.test.ts',
  'packages/sandbox/src/files/read/{list-folder,list-folder.stat-entry,read-parts}.test.ts',
  'packages/sandbox/src/files/search/rg-process.test.ts',
  'packages/sandbox/src/protected/disk/open-below.test.ts',
  'test/race.test.ts',
]

export default defineConfig({
  test: {
    projects: [
      // Most files can share a process: to load everything anew for each takes a minute in all.
      {
        extends: true,
        test: {
          name: 'together',
          include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ALONE,
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
      // What differs on a machine without /proc, such as a Mac. The tools on such a machine: test/without-proc.test.ts.
      {
        extends: true,
        resolve: {
          alias: [{ find: /^.*\/choose-access\.ts$/, replacement: resolve('test/support/choose-path-access.ts') }],
        },
        test: { name: 'paths', include: BY_NAMES, isolate: false },
      },
    ],
    globalSetup: ['./test/support/run-folder.ts', './test/support/join-own-modules.ts'],
    setupFiles: './test/support/check-temporary-folder.ts',
    sequence: { sequencer: SlowFirst },
    reporters: ['default', './scripts/closing-line-reporter.mjs'],
    // More than there are cores: a third of the time tests wait for processes, timers and disks.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // Nothing depends on speed: the longest test needs a quarter of this while both cores are busy with other work. What
    // needs longer says so in its file, with `vi.setConfig`.
    testTimeout: 120_000,
    // They build, and start what all tests of a file share.
    hookTimeout: 300_000,
    expect: { poll: { timeout: 100_000 } },
    allowOnly: false,
  },
})
