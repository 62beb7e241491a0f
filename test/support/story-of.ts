import type { CallEnded, RecordEvent } from '../../packages/runtime/src/records/log/events.ts'

/** What the audit says of one call, which every run of the same script must say as well. */
export interface ToldCall {
  readonly facts: Omit<CallEnded, 'type' | 'callId' | 'parent' | 'durationMs' | 'waitedMs'>
  /** What else happened in it, in order: questions, answers, changes of files. */
  readonly happened: readonly object[]
  /** The calls that it made, in the order they ended. */
  readonly calls: readonly ToldCall[]
}

type Ended = RecordEvent & CallEnded

/** Ids, times and the chain; and of a defect, where in the code it was. */
const OWN: ReadonlySet<string> = new Set([
  'seq',
  'time',
  'prev',
  // Of the paths of this run, too.
  'bound',
  'hash',
  'callId',
  'parent',
  'approval',
  // Of the model's call, which MCP does not pass on.
  'requestId',
  'durationMs',
  'waitedMs',
  'stack',
])

/**
 * The calls that a run was asked for, in the order they ended, without what differs from run to run. `names` are texts
 * that only this run has (its folders, who called), and what to say for them.
 */
export function storyOf(events: readonly RecordEvent[], names: Readonly<Record<string, string>>): ToldCall[] {
  // A start is recorded only of calls that have effects or take a while; the facts are there then.
  const starts = new Map(events.flatMap((event) => (event.type === 'call-started' ? [[event.callId, event]] : [])))
  const ends = events.flatMap((event) => (event.type === 'call-ended' ? [event] : []))
  const parentOf = (end: Ended) => end.parent ?? starts.get(end.callId)?.parent
  const tell = (end: Ended): ToldCall => {
    const { type: _, resultHash, ...facts } = { ...starts.get(end.callId), ...end }
    return {
      facts: {
        ...rename(facts, { ...names, [end.callId]: '<call>' }),
        // What a failure says may name the call and the folder.
        ...(end.status === 'ok' && { resultHash }),
      },
      happened: events.filter((event) => isWithin(event, end)).map((event) => rename(event, names)),
      calls: ends.filter((other) => parentOf(other) === end.callId).map(tell),
    }
  }
  return ends.filter((end) => parentOf(end) === undefined).map(tell)
}

function isWithin(event: RecordEvent, { callId }: Ended): boolean {
  if (event.type === 'call-started' || event.type === 'call-ended') return false
  return 'callId' in event && event.callId === callId
}

function rename<T extends object>(told: T, names: Readonly<Record<string, string>>): T {
  let text = JSON.stringify(told, (key, value) => (OWN.has(key) ? undefined : value))
  for (const [name, said] of Object.entries(names)) text = text.replaceAll(name, said)
  return JSON.parse(text)
}
