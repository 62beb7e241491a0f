import { setTimeout as wait } from 'node:timers/promises'

/** Longer than a lease. */
const PAUSE_MS = 13_000
const AWAY_MS = 4_000

/** What can happen to a machine; each is undone when it resolves. */
const FAULTS = {
  async killed(machine) {
    await machine.kill()
    await wait(Math.random() * 2_000)
    await machine.start()
  },
  async stopped(machine) {
    machine.pause()
    await wait(PAUSE_MS)
    machine.resume()
  },
  async 'cut off'(machine) {
    machine.block()
    await wait(Math.random() * PAUSE_MS)
    machine.unblock()
  },
  async disconnected(machine) {
    machine.cut()
  },
}

/**
 * Breaks one thing after the other, never all services at the same time, and PostgreSQL once; everything runs again when
 * it resolves. Returns how often each fault happened, and when services or PostgreSQL were broken.
 */
export async function breakThings({ machines, postgres, seconds }) {
  const until = performance.now() + seconds * 1_000
  const faults = new Map()
  const outages = []
  const mending = new Set()
  let isPostgresDue = true
  while (performance.now() < until) {
    await wait(1_000 + Math.random() * 1_500)
    const fault = pickFault(machines)
    if (fault) {
      faults.set(fault.kind, (faults.get(fault.kind) ?? 0) + 1)
      const since = performance.now()
      const mended = fault.break().finally(() => {
        mending.delete(mended)
        if (fault.isOfService) outages.push({ since, until: performance.now() })
      })
      mending.add(mended)
    }
    if (isPostgresDue && performance.now() > until - seconds * 500) {
      isPostgresDue = false
      const since = performance.now()
      await postgres.stop('immediate')
      await wait(AWAY_MS)
      await postgres.start()
      outages.push({ since, until: performance.now() })
      faults.set('PostgreSQL stopped', 1)
    }
  }
  await Promise.all(mending)
  return { faults, outages }
}

function pickFault(machines) {
  const up = machines.filter(({ state }) => state === 'up')
  const services = up.filter(({ command }) => command === 'serve')
  const machine = up[Math.floor(Math.random() * up.length)]
  // One service is left alone, so that agents come through.
  if (!machine || (services.length <= 1 && services.includes(machine))) return undefined
  const kinds = Object.keys(FAULTS)
  const kind = kinds[Math.floor(Math.random() * kinds.length)]
  return { kind, isOfService: services.includes(machine), break: () => FAULTS[kind](machine) }
}
