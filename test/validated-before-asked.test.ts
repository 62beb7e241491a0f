import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestHub, testHub } from '../packages/testing/src/tool-contract.ts'

let hub: TestHub
const asked: string[] = []
beforeAll(() => {
  hub = testHub({
    policy: ['session', 'schedule', 'message', 'exec', 'browser', 'canvas'].map((ask) => ({ ask }) as never),
    approve: ({ tool }) => {
      asked.push(tool)
      return { decision: 'allow', by: 'anna' }
    },
  }) as TestHub
})
afterAll(() => hub.close({ abort: true }))

const calls = [{ tool: 'core/util.time.now', input: {} }]

describe('arguments that can never work are refused before anybody is asked', () => {
  it.each<[string, Record<string, unknown>, RegExp]>([
    ['core/session.spawn', { task: 'Sum up docs/.', label: 'docs summary' }, /label must be letters, digits/],
    ['core/session.spawn', { task: 'Sum up docs/.', label: 'parent' }, /label must not be owner or parent/],
    ['core/session.spawn', { task: '  \n' }, /task must not be blank/],
    ['core/session.send', { session: 'parent', message: 'Done.', replyTo: 'yesterday' }, /replyTo must be the id/],
    ['core/cron', { action: 'add', calls, every: '15m' }, /cron add needs name/],
    ['core/cron', { action: 'add', name: 'x', every: '15m' }, /cron add needs calls/],
    ['core/cron', { action: 'add', name: 'x', calls }, /cron add needs cron, every or at/],
    ['core/cron', { action: 'add', name: 'x', calls, cron: '0 9 * *' }, /it has 4 fields, not 5 or 6/],
    ['core/cron', { action: 'add', name: 'x', calls, cron: '0 99 * * *' }, /field 2 \(hour\), "99"/],
    ['core/cron', { action: 'add', name: 'x', calls, every: 'soon' }, /every must be an interval/],
    ['core/cron', { action: 'add', name: 'x', calls, at: 'tomorrow' }, /at must be a time/],
    ['core/cron', { action: 'add', name: 'x', calls, every: '1h', timeZone: 'Mars/Phobos' }, /Unknown time zone/],
    ['core/cron', { action: 'add', name: 'x', calls, every: '1h', cron: '0 9 * * *' }, /cron and every are given/],
    ['core/cron', { action: 'remove' }, /cron remove needs name/],
    ['core/cron', { action: 'wake', text: 'Tea.' }, /cron wake needs at or inMs/],
    ['core/message.send', { text: 'hi' }, /message send needs channel/],
    ['core/message.send', { channel: 'console' }, /message send needs text/],
    ['core/message.send', { action: 'edit', channel: 'console', text: 'hi' }, /message edit needs messageId/],
    ['core/message.send', { action: 'react', channel: 'console', messageId: '1' }, /message react needs emoji/],
    ['core/exec.process', { action: 'submit', data: 'yes' }, /process submit needs sessionId/],
    ['core/exec.process', { action: 'paste', sessionId: 'a' }, /process paste needs data/],
    ['core/exec.process', { action: 'write', sessionId: 'a' }, /process write needs data or eof/],
    ['core/exec.process', { action: 'send-keys', sessionId: 'a', keys: ['Hyper-q'] }, /Unknown key "Hyper-q"/],
    ['core/exec.run', {}, /give either command or argv/],
    ['core/browser', { action: 'navigate' }, /browser navigate needs url/],
    ['core/browser', { action: 'type', ref: 'e1' }, /browser type needs text/],
    ['core/browser', { action: 'wait' }, /browser wait needs text, textGone, url, loadState or timeMs/],
    ['core/canvas', { action: 'present', kind: 'html' }, /canvas present needs content/],
    ['core/canvas', { action: 'present', content: '<p>' }, /canvas present needs kind/],
    ['core/canvas', { action: 'present', kind: 'form', content: '{"type":"array"}' }, /content: Invalid form/],
  ])('%s %j', async (tool, input, message) => {
    asked.length = 0
    const { error } = await hub.callDynamic(tool, input)
    expect([error?.code, asked]).toEqual(['INPUT_SCHEMA_INVALID', []])
    expect(error?.message).toMatch(message)
  })
})
