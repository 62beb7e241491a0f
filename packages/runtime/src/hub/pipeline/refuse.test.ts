import { expect, it } from 'vitest'
import { testHub } from '../../../../testing/src/tool-contract.ts'

it('names the rule that denies once, with its reason where it has one', async () => {
  const deny = async (reason?: string) => {
    const hub = testHub({ policy: [{ deny: 'core/util.time.now', ...(reason && { reason }) }] })
    const { error } = await hub.callDynamic('core/util.time.now', {})
    await hub.close()
    return error?.message
  }
  const rule = 'core/util.time.now is denied by deny core/util.time.now (policy[0])'
  expect(await deny()).toBe(`${rule}.`)
  expect(await deny('clocks are off')).toBe(`${rule}: clocks are off.`)
})
