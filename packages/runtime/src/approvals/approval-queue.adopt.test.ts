import { expect, it, vi } from 'vitest'
import { request, sameCall, waiting } from '../../../../test/support/approval-queue.ts'

it('leaves a request to the call that waits for it here, whatever the store says of its owner', async () => {
  const { queue, store, stored, answer } = await waiting()
  vi.spyOn(store.approvals, 'adopt').mockResolvedValue(await stored())
  expect(await queue.adopt(sameCall)).toBeUndefined()
  expect(queue.list()).toHaveLength(1)
  queue.reply(request.id, { decision: 'allow' })
  expect(await answer).toMatchObject({ decision: 'allow' })
})
