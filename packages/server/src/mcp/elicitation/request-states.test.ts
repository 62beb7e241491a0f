import { afterEach, describe, expect, it, vi } from 'vitest'
import { RequestStates } from './request-states.ts'

const bound = { principal: 'local', tool: 'files_delete', digest: 'a'.repeat(64) }
const refused = { code: -32602, message: 'Invalid or expired requestState' }

afterEach(() => {
  vi.useRealTimers()
})

describe('a sealed state', () => {
  it('opens once, with what was asked', async () => {
    const states = new RequestStates()
    const { id, state } = await states.seal(bound, [{ key: 'ask-1', hash: 'h' }])
    expect(await states.open(state, bound)).toMatchObject({ id, asked: [{ key: 'ask-1', hash: 'h' }] })
    await expect(states.open(state, bound)).rejects.toMatchObject(refused)
  })

  it.each([
    ['another principal', { ...bound, principal: 'auth:mallory' }],
    ['another tool', { ...bound, tool: 'files_write' }],
    ['other arguments', { ...bound, digest: 'b'.repeat(64) }],
  ])('does not open for %s, and still does for its own', async (_, other) => {
    const states = new RequestStates()
    const { state } = await states.seal(bound, [])
    await expect(states.open(state, other)).rejects.toMatchObject(refused)
    await expect(states.open(state, bound)).resolves.toMatchObject({ tool: 'files_delete' })
  })

  it('does not open when it was changed, made up, or sealed by another process', async () => {
    const states = new RequestStates()
    const { state } = await states.seal(bound, [{ key: 'ask-1', hash: 'h' }])
    const [version, body, mac] = state.split('.') as [string, string, string]
    const changed = Buffer.from(Buffer.from(body, 'base64url').toString().replace('"h"', '"x"')).toString('base64url')
    const { state: foreign } = await new RequestStates().seal(bound, [])
    const attempts = [
      `${version}.${changed}.${mac}`,
      `${version}.${body}.${mac.slice(1)}`,
      `${version}.${body}.`,
      foreign,
      '',
      'v1',
      42,
    ]
    for (const attempt of attempts) await expect(states.open(attempt, bound)).rejects.toMatchObject(refused)
  })

  it('still opens for others when one has used very many', async () => {
    const states = new RequestStates()
    const use = async (principal: string) => {
      const own = { ...bound, principal }
      return states.open((await states.seal(own, [])).state, own)
    }
    for (let index = 0; index < 2_000; index++) await use('mallory')
    await expect(use('mallory')).rejects.toMatchObject(refused)
    await expect(use('anna')).resolves.toMatchObject({ principal: 'anna' })
  })

  it('does not open after ten minutes', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const states = new RequestStates()
    const { state } = await states.seal(bound, [])
    const { state: late } = await states.seal(bound, [])
    vi.advanceTimersByTime(9 * 60_000)
    await expect(states.open(state, bound)).resolves.toMatchObject(bound)
    vi.advanceTimersByTime(2 * 60_000)
    await expect(states.open(late, bound)).rejects.toMatchObject(refused)
    // The memory of used ones is gone with their time; the seal refuses them now.
    await expect(states.open(state, bound)).rejects.toMatchObject(refused)
  })
})
