import { onTestFinished } from 'vitest'
import type { Jail } from '../../src/guards/process/jail/jail.ts'
import { createStarter } from '../../src/guards/process/start/create-starter.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'

/** How many seeds a starter makes at once, whenever it has none. */
export const SEEDS = 3

/** A starter whose seeds, and so the jails that were made of them, are counted by the groups they ask for. */
export function countedStarter({ prepared, entrance }: { prepared?: number; entrance?: () => string } = {}) {
  const clock = fakeClock()
  let [made, gone] = [0, 0]
  const starter = createStarter({
    clock,
    prepared,
    createCgroup: () => {
      made += 1
      const entrances = entrance ? [entrance()] : []
      return {
        entrances: async () => entrances,
        async remove() {
          gone += 1
        },
      }
    },
  })
  onTestFinished(() => starter.close())
  const run = async (jail: Jail, cwd: string, words = ['true']) => {
    const started = await starter.start({ jail, words, cwd, env: {}, pty: false }, new AbortController().signal)
    started.stdin.end()
    return started.exited
  }
  return { starter, clock, run, made: () => made, living: () => made - gone }
}
