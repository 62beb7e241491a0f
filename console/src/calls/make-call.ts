import type { CallEntry } from '../api/types.ts'

/** A call for tests, with what matters to one. */
export function makeCall(callId: string, part: Partial<CallEntry> = {}): CallEntry {
  return { callId, run: 'run-1', seq: 1, tool: 'core/fs.readText', caller: 'ada', status: 'ok', startedAt: 0, ...part }
}
