import { afterEach, expect, it, vi } from 'vitest'
import type { ApprovalRequest } from '../../../../core/src/events.ts'
import { answerInDemo } from './demo.ts'

const CANCEL = Symbol('cancel')

// A prompt that nobody answers: it ends when its signal does.
vi.mock('@clack/prompts', () => ({
  isCancel: (value: unknown) => value === CANCEL,
  select: ({ signal }: { signal: AbortSignal }) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(CANCEL))),
}))
const terminal = vi.hoisted(() => ({ canAsk: true }))
vi.mock('../output/print.ts', async (load) => ({
  ...(await load<typeof import('../output/print.ts')>()),
  canAsk: () => terminal.canAsk,
  style: (_: string, text: string) => text,
}))

const request = { tool: 'demo/files.writeReport', targets: ['write:fs x'], reason: 'why' } as unknown as ApprovalRequest

const printed = vi.spyOn(process.stdout, 'write').mockImplementation(((_: string, done: () => void) => {
  done()
  return true
}) as never)
afterEach(() => printed.mockClear())

it('takes silence for a no', async () => {
  terminal.canAsk = true
  expect(await answerInDemo(request, { number: 4, patienceMs: 1 })).toMatchObject({
    decision: 'deny',
    by: 'demo (silence)',
  })
  expect(printed.mock.calls.join()).toContain(' 4 asked     demo/files.writeReport')
})

it('says yes without a terminal, and that only this demo does', async () => {
  terminal.canAsk = false
  expect(await answerInDemo(request, { number: 4 })).toMatchObject({ decision: 'allow' })
  expect(printed.mock.calls.join()).toContain('only in this demo')
})
