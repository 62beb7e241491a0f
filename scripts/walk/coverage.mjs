import { Session } from 'node:inspector/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** Every script below it is a source file; Node loads each under the URL of its .ts file. */
const SOURCES = new URL('../../packages/', import.meta.url).href

/** Sources that do nothing for this long have finished what earlier work left to the background, such as an index. */
const QUIET_MS = 200
/** Timers that never end are part of what runs, so the wait for quiet sources is bounded. */
const MAX_WAITS = 25

/**
 * The source files that run while a function is working, in alphabetical order, each with the number of its functions
 * that ran and how often they did. Waits first until the sources are quiet, so that nothing earlier is counted.
 */
export async function measureVisits(work) {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
    for (let wait = 0; wait < MAX_WAITS; wait++) {
      await sleep(QUIET_MS)
      if ((await takeVisits(session)).length === 0) break
    }
    await work()
    return await takeVisits(session)
  } finally {
    session.disconnect()
  }
}

/** What has run since coverage was started or last taken. */
async function takeVisits(session) {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  return result
    .filter(({ url }) => url.startsWith(SOURCES))
    .map(visitsOf)
    .filter(({ functions }) => functions > 0)
    .sort((one, other) => (one.file < other.file ? -1 : 1))
}

/** The first range of a function is the function as a whole; its count is the number of calls. */
function visitsOf({ url, functions }) {
  const counts = functions.map(({ ranges }) => ranges[0].count).filter((count) => count > 0)
  return {
    file: `packages/${url.slice(SOURCES.length)}`,
    functions: counts.length,
    calls: counts.reduce((sum, count) => sum + count, 0),
  }
}
