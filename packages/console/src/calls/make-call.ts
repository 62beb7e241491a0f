import type { CallEntry } from '../api/types.ts'

/** Creates a call for tests. */
export function makeCall(callId: string, part: Partial<CallEntry> = {}): CallEntry {
  return { callId, run: 'run-1', seq: 1, tool: 'core/fs.readText', caller: 'ada', status: 'ok', startedAt: 0, ...part }
}
