import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import type { ApprovalRequest } from '../../../../core/src/events.ts'
import { defineTool } from '../../../../core/src/tool.ts'

/** A hub with a tool that names as many targets as its input says; the approver allows everything. */
function askingHub() {
  const requests: ApprovalRequest[] = []
  const touch = defineTool({
    name: 'files.touch',
    description: 'Touch files.',
    input: z.strictObject({ count: z.number() }),
    capabilities: ['write:fs'],
    targets: ({ count }) => ({ 'write:fs': Array.from({ length: count }, (_, index) => `f${index}`) }),
    execute: ({ count }) => `touched ${count}`,
  })
  const { call, root } = fileHub(
    {},
    {
      tools: [touch],
      policy: [{ ask: 'write:fs' }],
      approve: (request) => {
        requests.push(request)
        return { decision: 'allow' }
      },
    },
  )
  return { requests, root, touch: (count: number) => call('files.touch', { count }) }
}

describe('a call', () => {
  it('touches 1,000 targets at most', async () => {
    const { touch } = askingHub()
    expect(await touch(1_000)).toMatchObject({ ok: true })
    expect((await touch(1_001)).error).toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: 'The call has 1001 targets; the limit is 1000.',
    })
  })

  it('names five targets in what an approval would cover, and how many more there are', async () => {
    const { requests, root, touch } = askingHub()
    for (const count of [1, 5, 6]) await touch(count)
    const names = (count: number) => Array.from({ length: count }, (_, index) => `${root}/f${index}`)
    const covered = requests.map(({ coverage }) => coverage.targets!.replaceAll('write:fs ', ''))
    expect(covered[0]).toContain(` on ${names(1)[0]}, whatever`)
    expect(covered[1]).not.toContain(' more, ')
    expect(covered[2]).toContain(' and 1 more, ')
    expect(names(5).every((name) => covered[2]!.includes(name))).toBe(true)
    expect(covered[2]).not.toContain(`${root}/f5`)
  })

  it('shows the approver the last ten calls of the run, newest first', async () => {
    const { requests, touch } = askingHub()
    const ended: string[] = []
    for (let count = 1; count <= 32; count++) {
      const { callId } = await touch(count)
      expect(requests.at(-1)!.history.map((recent) => recent.callId)).toEqual(ended.slice(0, 10))
      ended.unshift(callId)
    }
  })
})
