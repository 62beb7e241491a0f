import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { policySuggestions } from '@tool-hub/core/protocol/policy'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { serveHttp } from '../../../../test/support/http-served.ts'
import { createClient } from '../../../client/src/create-client.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { SuggestionSearch } from './suggestion-search.ts'

const send = defineTool({
  name: 'post.send',
  description: 'Sends.',
  input: z.strictObject({ to: z.string() }),
  capabilities: ['remote'],
  results: 'own',
  execute: () => 'sent',
})
const RULE = '{ allow: "post.send", where: { to: "ada@x.org" } }'

let served: Awaited<ReturnType<typeof serveHttp>>
beforeEach(async () => {
  served = await serveHttp({ tools: [send], policy: [{ ask: 'post.*' }] })
  for (let made = 0; made < 2; made++)
    await served.hub.callDynamic(
      'post.send',
      { to: 'ada@x.org' },
      { run: 'r', approve: () => ({ decision: 'allow', by: 'ada' }) },
    )
})
afterEach(() => served.close())

describe('GET /v1/policy/suggestions', () => {
  it('suggests rules with what they save and were compared with', async () => {
    const client = createClient({ url: served.server.url, token: await served.newToken('reader', ['read']) })
    const found = await client.policy.suggest({ since: '7d' })
    expect(policySuggestions.parse(found)).toMatchObject({
      runs: 1,
      calls: 2,
      approvals: 2,
      rules: [{ yaml: [RULE], saves: 2, calls: [{ run: 'r' }, { run: 'r' }], open: [] }],
      withheld: [],
      unreadable: [],
    })
    expect(await client.policy.suggest()).toMatchObject({ rules: [{ saves: 2 }] })
  })

  it('suggests nothing while a record cannot be read, and says which', async () => {
    appendFileSync(join(served.hub.folder, 'runs', 'r', 'events.jsonl'), 'no event\n')
    const reader = await served.newToken('reader', ['read'])
    const { json } = await served.ask('GET', '/v1/policy/suggestions', reader)
    expect(json).toMatchObject({ rules: [], unreadable: [{ run: 'r', reason: '1 of its lines cannot be read' }] })
  })

  it('is for those who read, and refuses an invalid time', async () => {
    const [reader, caller] = await Promise.all([
      served.newToken('reader', ['read']),
      served.newToken('caller', ['call', 'approve']),
    ])
    expect(await served.ask('GET', '/v1/policy/suggestions', caller)).toMatchObject({ status: 403 })
    expect(await served.ask('GET', '/v1/policy/suggestions?since=soon', reader)).toMatchObject({
      status: 400,
      json: { error: { code: 'INPUT_SCHEMA_INVALID', message: expect.stringContaining('is not a time') } },
    })
  })
})

describe('suggestions', () => {
  /** Over a hub whose decisions wait until the test opens them. */
  function gated() {
    const { hub } = served
    const state = { decisions: 0, open: () => {} }
    let gate: Promise<void>
    const close = () => {
      gate = new Promise((resolve) => {
        state.open = resolve
      })
    }
    close()
    const clock = fakeClock()
    const suggestions = new SuggestionSearch({
      hub: {
        cards: () => hub.cards(),
        policyLayers: () => hub.policyLayers(),
        explain: async (...asked) => {
          state.decisions++
          await gate
          return hub.explain(...asked)
        },
      },
      runsFolder: join(hub.folder, 'runs'),
      clock,
    })
    return { state, suggestions, clock, close }
  }
  const always = new AbortController().signal

  it('are found once for all who ask for the same, and refused for others meanwhile', async () => {
    const { state, suggestions, clock, close } = gated()
    const both = [suggestions.find({ signal: always }), suggestions.find({ signal: always })]
    await expect(suggestions.find({ lastMs: 5, signal: always })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryable: true,
    })
    state.open()
    const [first, second] = await Promise.all(both)
    expect(second).toBe(first)
    expect(first).toMatchObject({ rules: [{ yaml: [RULE] }] })
    expect(await suggestions.find({ signal: always })).toBe(first)
    await clock.advance(30_000)
    expect(await suggestions.find({ signal: always })).not.toBe(first)
    const kept = await suggestions.find({ signal: always })
    suggestions.clear()
    close()
    const again = suggestions.find({ signal: always })
    state.open()
    expect(await again).not.toBe(kept)
  })

  it('are no longer looked for when nobody waits, and then for the next who asks', async () => {
    const { state, suggestions } = gated()
    const left = new AbortController()
    const one = suggestions.find({ signal: left.signal })
    const two = suggestions.find({ signal: left.signal })
    await expect.poll(() => state.decisions).toBe(1)
    left.abort(new Error('gone'))
    await expect(one).rejects.toThrow('gone')
    await expect(two).rejects.toThrow('gone')
    await expect(suggestions.find({ signal: always })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    state.open()
    await expect.poll(() => suggestions.find({ signal: always }).catch(() => undefined)).toMatchObject({ approvals: 2 })
  })

  it('are not those of rules that have changed meanwhile', async () => {
    const { state, suggestions } = gated()
    const found = suggestions.find({ signal: always })
    await expect.poll(() => state.decisions).toBe(1)
    suggestions.clear()
    state.open()
    await expect(found).rejects.toMatchObject({ code: 'CONFLICT' })
  })
})
