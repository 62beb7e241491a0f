import { onTestFinished } from 'vitest'
import type { SandboxLaunch } from '../../packages/sandbox/src/exec/isolation/sandbox.ts'
import { createStarter } from '../../packages/sandbox/src/exec/start/starter.ts'
import { fakeClock } from '../../packages/testing/src/fake-clock.ts'

/** How many prewarmed processes a starter creates together, whenever it has none. */
export const PREWARMED = 3

/** A starter whose prewarmed processes, and the sandboxes made from them, are counted by the cgroups they request. */
export function countedStarter({ prepared, joinFile }: { prepared?: number; joinFile?: () => string } = {}) {
  const clock = fakeClock()
  let [made, gone] = [0, 0]
  const starter = createStarter({
    clock,
    prepared,
    createCgroup: () => {
      made += 1
      const joinFiles = joinFile ? [joinFile()] : []
      return {
        joinFiles: async () => joinFiles,
        async remove() {
          gone += 1
        },
      }
    },
  })
  onTestFinished(() => starter.close())
  const run = async (sandbox: SandboxLaunch, cwd: string, words = ['true']) => {
    const started = await starter.start({ sandbox, words, cwd, env: {}, pty: false }, new AbortController().signal)
    started.stdin.end()
    return started.exited
  }
  return { starter, clock, run, made: () => made, living: () => made - gone }
}
