import { builtinTools } from '@tool-hub/library/builtin-tools'
import { afterEach, describe, expect, it } from 'vitest'
import { type TestHub, testHub, toolContract } from '../../../../testing/src/tool-contract.ts'
import type { SessionWork } from '../runner.ts'

const hubs: TestHub[] = []
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close({ abort: true })))
})

function setUp(run: (session: SessionWork) => Promise<string>) {
  const hub = testHub({ sessions: { runners: { default: { run, description: 'Helps.' } } } }) as TestHub
  hubs.push(hub)
  return async (tool: string, input: object) => {
    const { content, error } = await hub.callDynamic(tool, input, { run: 'root' })
    const [block] = content
    return error?.code ?? (block?.type === 'text' ? block.text : undefined)
  }
}

describe('the session tools', () => {
  it.each([
    { name: 'core/session.list', codes: [] },
    { name: 'core/session.status', codes: ['NOT_FOUND'] },
    { name: 'core/session.history', codes: ['NOT_FOUND', 'NOT_FOUND'] },
    { name: 'core/session.send', codes: ['NOT_FOUND', 'NOT_FOUND'] },
    { name: 'core/session.spawn', codes: ['CONFIG_INVALID', 'CONFIG_INVALID'] },
  ])('keep the contract: $name', async ({ name, codes }) => {
    const broken = await toolContract(builtinTools.find((tool) => tool.name === name)!)
    // Their examples need sessions and runners, which a bare hub has not.
    expect(broken.map((line) => /: ([A-Z_]+) /.exec(line)?.[1] ?? line)).toEqual(codes)
  })

  it('tell a model briefly what there is, what came of it, and how to continue', async () => {
    const ask = setUp(async ({ say }) => {
      await say('Half of it.\n> done')
      return 'All of it.'
    })
    expect(await ask('sessions_spawn', { task: 'x', label: 'helper', waitMs: 60_000 })).toMatch(
      /^session-\S+ \(helper\) ended runner default\nresult:\n> All of it\.$/,
    )
    expect(await ask('sessions_list', {})).toMatch(
      /^You are root\.\nsession-\S+ \(helper\) ended runner default\nroot running\nrunners: default \(Helps\.\)$/,
    )
    expect(await ask('session_status', {})).toMatch(
      /^root running\nchild session-\S+ \(helper\) ended runner default\nmessage-\S+ from session-\S+:\n> Half of it\.\n> > done$/,
    )
    expect(await ask('sessions_history', { session: 'helper', limit: 1 })).toMatch(
      /^1 entries of session-\S+\n\S+ message-\S+ from session-\S+:\n> Half of it\.\n> > done\nlater: after=\d+\.\d+$/,
    )
  })

  it('say what became of a message', async () => {
    const ask = setUp(({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)))
    expect(await ask('sessions_spawn', { task: 'x', label: 'helper' })).toContain('check it with core/session.status')
    expect(await ask('sessions_send', { session: 'helper', message: 'Hi' })).toMatch(/^message-\S+ is in the inbox of/)
    expect(await ask('sessions_send', { session: 'helper', message: 'Hi', waitMs: 1 })).toMatch(/no answer in time/)
    expect(await ask('sessions_send', { session: 'owner', message: 'Hi' })).toMatch(/in the inbox of owner/)
  })
})
