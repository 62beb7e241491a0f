import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What all records say of calls: how often each began and ended, and which runs were not read to their end. */
export async function readRecords(folder) {
  const runs = join(folder, 'runs')
  const [started, ended] = [new Map(), new Map()]
  for (const run of await readdir(runs)) {
    const text = await readFile(join(runs, run, 'events.jsonl'), 'utf8').catch(() => '')
    for (const line of text.split('\n')) {
      const event = parse(line)
      if (event?.type === 'call-started') count(started, event.callId)
      if (event?.type === 'call-ended' || event?.type === 'call-interrupted') count(ended, event.callId)
    }
  }
  return { started, ended }
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
