import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** How often each call began and ended, as the records in the folder say. */
export async function readRecords(folder) {
  const calls = new CallCount()
  const runs = join(folder, 'runs')
  for (const run of await readdir(runs))
    calls.add(await readFile(join(runs, run, 'events.jsonl'), 'utf8').catch(() => ''))
  return calls
}

/** The same, as the records say that all machines have shared. */
export async function readSharedRecords(store) {
  const calls = new CallCount()
  for (const { run } of await store.segments.heads())
    for (let from = 1; ; ) {
      const segments = await store.segments.read(run, { from, limit: 100 })
      if (segments.length === 0) break
      for (const { lines } of segments) calls.add(lines)
      from = segments.at(-1).last + 1
    }
  return calls
}

class CallCount {
  started = new Map()
  ended = new Map()

  /** Counts the events in lines of JSON. */
  add(lines) {
    for (const line of lines.split('\n')) {
      const event = parse(line)
      if (event?.type === 'call-started') count(this.started, event.callId)
      if (event?.type === 'call-ended' || event?.type === 'call-interrupted') count(this.ended, event.callId)
    }
  }

  checkEnds(checks) {
    const open = [...this.started.keys()].filter((callId) => !this.ended.has(callId))
    checks.none(`each of ${this.started.size} calls has an end`, open)
    const twice = [...this.ended].filter(([, times]) => times > 1)
    checks.none('and only one', twice)
  }
}

/** A line that a kill tore has no call in it. */
function parse(line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function count(map, key) {
  map.set(key, (map.get(key) ?? 0) + 1)
}
