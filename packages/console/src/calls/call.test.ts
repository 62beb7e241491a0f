import { expect, it } from 'vitest'
import type { CallEntry } from '../api/types.ts'
import { describeCall } from './call.ts'

const CALL: CallEntry = { callId: 'c', run: 'r', seq: 1, tool: 't', caller: 'a', status: 'ok', startedAt: 1 }

it.each<[Partial<CallEntry>, string]>([
  [{ request: 'a.md', summary: '# Doc 9', targets: ['read:fs /srv/a.md'] }, 'a.md'],
  [{ request: 'a.md', error: 'NOT_FOUND', status: 'error' }, 'a.md · NOT_FOUND'],
  [{ targets: ['read:fs /srv/a.md'], summary: '# Doc 9' }, 'read:fs /srv/a.md'],
  [{ summary: 'It is 10:00.' }, 'It is 10:00.'],
  [{ error: 'TIMEOUT', summary: 'x', status: 'timeout' }, 'TIMEOUT'],
  [{ request: 'rm a', error: 'APPROVAL_UNAVAILABLE', status: 'approval_required' }, 'rm a'],
  [{}, ''],
])('says of a call %j what was asked for', (part, words) => {
  expect(describeCall({ ...CALL, ...part })).toBe(words)
})
