import { afterAll, describe, expect, it } from 'vitest'
import { useMessages } from '../../../../../test/support/message-hub.ts'
import { KNOWN } from '../../../../../test/support/message-services.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { testHub } from '../../../../testing/src/tool-contract.ts'
import type { Channel } from '../channel.ts'

const world = useMessages()

describe('the console', () => {
  it('is there without any configuration, and shows what was sent, unasked', async () => {
    const { hub, send } = world.open({}, { approve: undefined })
    const result = await send({ channel: 'console', title: 'Backup', text: 'Done.', level: 'warning' })
    expect(result).toMatchObject({ ok: true, data: { targets: ['console'], isDryRun: false } })
    const { messages, unread } = await hub.messages.inbox()
    expect(unread).toBe(1)
    expect(messages).toMatchObject([
      { title: 'Backup', text: 'Done.', level: 'warning', caller: 'library', run: world.run, isUntrusted: false },
    ])
    expect(messages[0]!.id).toBe((result.data as { messageId: string }).messageId)
    expect(await hub.messages.markRead([messages[0]!.id])).toBe(1)
    expect((await hub.messages.inbox({ unread: true })).messages).toEqual([])
    expect(await hub.messages.remove(messages[0]!.id)).toBe(true)
  })

  it('lets a run edit its own messages, and nobody else', async () => {
    const { hub, send } = world.open()
    const { data } = await send({ channel: 'console', text: 'Half way.' })
    const { messageId } = data as { messageId: string }
    const edit = { action: 'edit', channel: 'console', messageId, text: 'All the way.' }
    expect((await send(edit, { run: 'another-run' })).error?.code).toBe('NOT_FOUND')
    expect(await send(edit)).toMatchObject({ ok: true })
    expect((await hub.messages.inbox()).messages).toMatchObject([{ text: 'All the way.' }])
    expect((await send({ action: 'react', channel: 'console', messageId, emoji: '👍' })).error).toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: 'The channel console (console) cannot react.',
    })
  })

  it('says of a message from a tainted run that it is, also of one that it edits, and takes its artifacts', async () => {
    const { hub, send } = world.open()
    const { data } = await send({ channel: 'console', text: 'Half way.' }, { run: 'edits' })
    const { messageId } = data as { messageId: string }
    const edit = { action: 'edit', channel: 'console', messageId, text: 'A page says so.' }
    expect((await send(edit, { run: 'edits', untrusted: true })).ok).toBe(true)
    expect((await hub.messages.inbox()).messages).toMatchObject([{ text: 'A page says so.', isUntrusted: true }])
    await hub.messages.remove(messageId)
    const ref = await world.keep(hub, 'numbers')
    const attachments = [{ ref, name: 'n.txt' }]
    expect((await send({ channel: 'console', text: 'It says so.', attachments }, { untrusted: true })).ok).toBe(true)
    const { messages } = await hub.messages.inbox()
    expect(messages).toMatchObject([{ isUntrusted: true, attachments: [{ ref, name: 'n.txt', bytes: 7 }] }])
  })

  it('never holds a secret that the hub knows, whatever its line breaks, and not in the name of a file', async () => {
    const { hub, send } = world.open({}, { redact: { values: ['hunter2-hunter2', 'line-one-1\nline-two-2'] } })
    const ref = await world.keep(hub, 'numbers')
    const secrets = { text: 'It is line-one-1\r\nline-two-2.', attachments: [{ ref, name: 'hunter2-hunter2.txt' }] }
    const { meta } = await send({ channel: 'console', ...secrets })
    expect(meta.notices).toContain('Secrets were taken out of the message.')
    const { messages } = await hub.messages.inbox()
    expect(JSON.stringify(messages)).not.toMatch(/hunter2|line-two/)
    expect((await send({ channel: 'console', text: 'Two\r\nlines.' })).meta.notices ?? []).toEqual([])
  })
})

describe('a channel of your own', () => {
  it('gets what was checked, and an io that reaches only its origins', async () => {
    const sent: unknown[] = []
    const pager: Channel = {
      kind: 'pager',
      origins: [world.services.url],
      recipients: { most: 2, admits: (name) => name.startsWith('on-call'), hint: 'on-call-*' },
      canRehearse: true,
      async send({ to, text }, io) {
        sent.push({ to, text, call: io.callId })
        const { status } = await io.fetch(`${world.services.url}/hook`, {
          method: 'POST',
          headers: { 'x-token': 'abc' },
          body: text,
        })
        if (text === 'away') await io.fetch('https://example.org/', { method: 'GET' })
        return { id: `page-${status}` }
      },
    }
    const { send } = world.open({ pager })
    const wish = { channel: 'pager', to: ['on-call-1'], text: 'Fire' }
    const dry = await send({ ...wish, dryRun: true })
    expect(dry.data).toMatchObject({ isDryRun: true, request: { url: `${world.services.url}/hook`, body: 'Fire' } })
    expect(JSON.stringify(dry.data)).not.toContain('abc')
    expect(world.services.got).toEqual([])
    expect(await send(wish)).toMatchObject({ ok: true, data: { messageId: 'page-204', targets: ['pager/on-call-1'] } })
    expect(world.services.got[0]!.headers['x-token']).toBe('abc')
    const away = await send({ ...wish, text: 'away' })
    expect(away.error?.code).toBe('HTTP_DISALLOWED_HOST')
    expect((await send({ channel: 'pager', text: 'x' })).error?.message).toContain('needs a recipient')
  })

  it('is called when what is about to happen is on record, and ended with the hub', async () => {
    const records: string[] = []
    const slow: Channel = {
      kind: 'slow',
      async send() {
        records.push(world.recordOf(hub))
        return new Promise(() => {})
      },
    }
    const { hub, send } = world.open({ slow })
    const sending = send({ channel: 'slow', text: 'x' })
    await expect.poll(() => records.length).toBe(1)
    expect(records[0]).toContain('"type":"call-started"')
    await hub.close({ abort: true })
    expect((await sending).ok).toBe(false)
  })

  it('may say what it wants about a message that went out: an id that is none is left out', async () => {
    const ids: unknown[] = ['x'.repeat(101), 7, 'a\u001b[2Jb', 'fine']
    const loose: Channel = { kind: 'loose', send: async () => ({ id: ids.shift() as string }) }
    const { send } = world.open({ loose })
    const got: unknown[] = []
    for (const text of ['1', '2', '3', '4']) got.push((await send({ channel: 'loose', text })).data)
    expect(got.map((data) => (data as { messageId?: string }).messageId)).toEqual([
      undefined,
      undefined,
      undefined,
      'fine',
    ])
  })

  it('that cannot rehearse is not called by a dry run', async () => {
    const calls: string[] = []
    const odd: Channel = {
      kind: 'odd',
      async send({ text }) {
        calls.push(text)
        return {}
      },
    }
    const { send } = world.open({ odd })
    expect((await send({ channel: 'odd', text: 'x', dryRun: true })).data).toMatchObject({
      request: { type: 'other', method: 'send', body: '{"text":"x","level":"info","attachments":[]}' },
    })
    expect(calls).toEqual([])
    expect((await send({ channel: 'odd', text: 'x' })).ok).toBe(true)
    expect(calls).toEqual(['x'])
  })
})

describe('rules and limits', () => {
  it('ask before anybody is reached, and a no keeps the message here', async () => {
    const asked: { targets: readonly string[]; reason: string }[] = []
    const { send } = world.open(
      { bot: world.telegram() },
      {
        approve(request) {
          asked.push(request)
          return { decision: 'deny', reason: 'Not now.' }
        },
      },
    )
    const { error } = await send({ channel: 'bot', to: ['@Ops_Room'], text: 'x' })
    expect(error).toMatchObject({ code: 'APPROVAL_DENIED' })
    expect(asked).toMatchObject([
      { targets: ['message bot/@ops_room'], reason: expect.stringContaining('reaches people') },
    ])
    expect(world.services.got).toEqual([])
  })

  it('that deny a recipient hold for a message that names nobody, too', async () => {
    const policy = [{ allow: 'message' }, { deny: 'message', on: ['bot/-100'], reason: 'That is the board.' }]
    const { send } = world.open({ bot: world.telegram() }, { policy })
    const { error } = await send({ channel: 'bot', text: 'x' })
    expect(error).toMatchObject({ code: 'POLICY_DENIED', message: expect.stringContaining('bot/-100') })
    expect((await send({ action: 'react', channel: 'bot', messageId: '1', emoji: '👍' })).error?.code).toBe(
      'POLICY_DENIED',
    )
    expect((await send({ channel: 'bot', to: ['@ops_room'], text: 'x' })).ok).toBe(true)
    expect(world.services.got).toHaveLength(1)
  })

  it('decide by channel and recipient, and on what a run has read', async () => {
    const { send } = world.open(
      { bot: world.telegram(), hook: world.hook() },
      {
        approve: undefined,
        policy: [
          { allow: 'message', on: ['hook', 'bot/@ops_*'] },
          { deny: 'message', on: ['bot/-100'], reason: 'That is the board.' },
          { ask: 'message', on: ['hook'], when: { tainted: true } },
        ],
      },
    )
    expect((await send({ channel: 'hook', text: 'x' })).ok).toBe(true)
    expect((await send({ channel: 'bot', to: ['@Ops_Room'], text: 'x' })).ok).toBe(true)
    expect((await send({ channel: 'bot', to: ['-100'], text: 'x' })).error?.code).toBe('POLICY_DENIED')
    expect((await send({ channel: 'bot', text: 'x' })).error?.code).toBe('APPROVAL_UNAVAILABLE')
    expect((await send({ channel: 'hook', text: 'x' }, { untrusted: true })).error?.code).toBe('APPROVAL_UNAVAILABLE')
    expect(world.services.got).toHaveLength(2)
  })

  it('let a dry run and a look at the channels pass unasked', async () => {
    const { send } = world.open({ hook: world.hook() }, { approve: undefined })
    const dry = await send({ channel: 'hook', text: 'x', dryRun: true })
    expect(dry.data).toMatchObject({
      isDryRun: true,
      request: {
        type: 'http',
        method: 'POST',
        url: `${world.services.url}/hook`,
        body: expect.stringContaining('"text":"x"'),
      },
    })
    expect(dry.content).toMatchObject([{ text: expect.stringContaining('nothing was sent') }])
    // Signed, it could be sent by any other way.
    expect(dry.data).toMatchObject({ request: { headers: { 'webhook-signature': '(hidden)' } } })
    expect((await send({ action: 'channels' })).data).toMatchObject({
      channels: [{ name: 'console' }, { name: 'hook' }],
    })
    expect(world.services.got).toEqual([])
  })

  it('bound each channel, and say how long to wait', async () => {
    const clock = fakeClock()
    const { send } = world.open(
      { hook: world.hook('/hook', { rate: { perSecond: 0.1, burst: 2 }, perDay: 3 }) },
      { clock },
    )
    const codes = async (count: number) =>
      (await Promise.all(Array.from({ length: count }, () => send({ channel: 'hook', text: 'x' })))).map(
        ({ error }) => error?.code ?? 'ok',
      )
    expect((await codes(3)).sort()).toEqual(['RATE_LIMITED', 'ok', 'ok'])
    await clock.advance(60_000)
    expect((await codes(2)).sort()).toEqual(['RATE_LIMITED', 'ok'])
    const { error } = await send({ channel: 'hook', text: 'x' })
    expect(error?.message).toMatch(/takes 3 messages a day; wait \d+ ms\. Nothing was sent\./)
    expect(world.services.got).toHaveLength(3)
  })

  it('hold for two concurrent calls, each with its own', async () => {
    const { send } = world.open({ hook: world.hook(), ops: world.slack() })
    const results = await Promise.all(
      ['a', 'b', 'c', 'd'].map((text, index) => send({ channel: index % 2 ? 'hook' : 'ops', text })),
    )
    expect(results.every(({ ok }) => ok)).toBe(true)
    expect(world.services.got.map(({ json }) => json.text).sort()).toEqual(['a', 'b', 'c', 'd'])
  })
})

describe('the profile messaging', () => {
  it('shows the tool as message, and minimal does not', async () => {
    const names = (profile: 'messaging' | 'minimal') => {
      const { hub } = world.open({}, { visibility: { profile } })
      return hub.cards({ dialect: 'coding' }).map(({ name }) => name)
    }
    expect(names('messaging')).toContain('message')
    expect(names('minimal')).not.toContain('message')
  })
})

describe('bad input', () => {
  const refusing = testHub({ runs: false })
  afterAll(() => refusing.close())

  it('names the channels there are when one is unknown', async () => {
    const { send } = world.open({ ops: world.slack() })
    const { error } = await send({ channel: 'opps', text: 'x' })
    expect(error).toMatchObject({ code: 'NOT_FOUND', message: 'Unknown channel "opps".' })
    expect(error!.fix.hint).toContain('There are: console, ops.')
    expect((await send({ channel: 'constructor', text: 'x' })).error?.code).toBe('NOT_FOUND')
  })

  it.each([
    [{}, 'needs channel'],
    [{ channel: 'console' }, 'needs text'],
    [{ channel: 'console', text: '  \n' }, 'message is empty'],
    [{ channel: 'console', text: 'a\u0001b' }, 'control character'],
    [{ channel: 'console', title: 'a\r\nBcc: x@y.z', text: 'x' }, 'control character'],
    [{ channel: 'console', action: 'edit', text: 'x' }, 'needs messageId'],
    [{ channel: 'console', text: 'x', attachments: [{ ref: '/etc/passwd' }] }, 'not an artifact of this run'],
    [{ channel: '../x', text: 'x' }, 'channel'],
    [{ channel: 'console', text: 'x', hidden: true }, 'hidden'],
  ])('%j is refused', async (input, message) => {
    const { error } = await refusing.callDynamic('core/message.send', input)
    expect(error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID', message: expect.stringContaining(message) })
  })

  it('says what a channel lacks, and where to set it', async () => {
    const { hub, send } = world.open({
      ops: { kind: 'slack', url: '${env:TOOL_HUB_TEST_UNSET}' },
      bot: { kind: 'telegram', token: '${secret:bot}', chats: ['1'] },
      weak: { kind: 'webhook', url: 'https://example.org', secret: 'short' },
      plain: { kind: 'slack', url: 'http://hooks.example.org/services/a' },
    })
    const channels = await hub.messages.channels()
    expect(channels.map(({ name, problem }) => [name, problem])).toEqual([
      ['console', undefined],
      ['ops', expect.stringContaining('needs the environment variable TOOL_HUB_TEST_UNSET (url)')],
      ['bot', expect.stringContaining('needs the secret bot (token)')],
      ['weak', expect.stringContaining('has 5 characters')],
      ['plain', expect.stringContaining('is not https')],
    ])
    expect((await send({ channel: 'ops', text: 'x' })).error?.code).toBe('CONFIG_INVALID')
  })

  it('fills in secrets of the hub by name', async () => {
    const url = `${world.services.url}${KNOWN.slack}`
    const { hub, send } = world.open(
      { ops: { kind: 'slack', url: '${secret:slack}' } },
      { secrets: { slack: { value: url, hosts: ['127.0.0.1'] } } },
    )
    expect((await send({ channel: 'ops', text: 'x' })).ok).toBe(true)
    expect(world.recordOf(hub)).not.toContain(KNOWN.slack)
  })
})

describe("the owner's own service", () => {
  it('sends unasked and on record', async () => {
    const { hub } = world.open({ hook: world.hook() }, { approve: undefined })
    const outcome = await hub.messages.send({ channel: 'hook', text: 'A test.' }, { by: 'ada' })
    expect(outcome).toMatchObject({ channel: 'hook', kind: 'webhook', targets: ['hook'] })
    expect(world.services.got[0]!.json).toMatchObject({ text: 'A test.', from: { caller: 'ada' } })
    await expect(hub.messages.send({ channel: 'nope', text: 'x' }, { by: 'ada' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })
})
