import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import type { DialWish } from '@tool-hub/core/feature'
import { describe, expect, it } from 'vitest'
import { channelBench, plainMessage } from '../../../../../test/support/channel-bench.ts'
import type { SmtpChannelOptions } from '../channel.ts'
import { composeMail, openSmtp } from './smtp.ts'

const base = { kind: 'smtp', host: 'mail.example.org', from: 'Hub <hub@example.org>', to: ['Ops@example.org'] } as const
const open = (options: Partial<SmtpChannelOptions> = {}, dial?: (wish: DialWish) => never) => {
  const bench = channelBench(dial && { dial: async (wish) => dial(wish) })
  return { ...bench, channel: openSmtp({ ...base, ...options }, bench.parts) }
}

/** Where a channel connects to. */
async function dialled(options: Partial<SmtpChannelOptions>): Promise<Pick<DialWish, 'host' | 'port'>> {
  let asked: DialWish | undefined
  const { channel, io } = open(options, (wish) => {
    asked = wish
    throw new Error('no line')
  })
  await expect(channel.send(plainMessage({ to: ['ops@example.org'] }), io)).rejects.toThrow('no line')
  expect(asked!.signal).toBe(io.signal)
  return { host: asked!.host, port: asked!.port }
}

describe('a mail server', () => {
  it('says what it takes and whom it reaches', () => {
    const { channel } = open({ recipients: ['*@other.example'] })
    expect(channel).toMatchObject({
      ...{ kind: 'smtp', canRehearse: true, limits: { maxChars: 100_000, maxAttachments: 10 } },
      recipients: { most: 20, usual: ['ops@example.org'], hint: 'ops@example.org, *@other.example' },
    })
    const { admits } = channel.recipients!
    expect(['ops@example.org', 'x@other.example', 'x@example.org', '<x>@other.example'].map(admits)).toEqual([
      ...[true, true, false, false],
    ])
    expect(open({ to: [], recipients: ['*'] }).channel.recipients).not.toHaveProperty('usual')
  })

  it.each<[Partial<SmtpChannelOptions>, number]>([
    [{}, 587],
    [{ tls: 'none' }, 587],
    [{ tls: 'implicit' }, 465],
    [{ port: 2525 }, 2525],
    [{ port: 2525, tls: 'implicit' }, 2525],
  ])('with %j is reached at port %i', async (options, port) => {
    expect(await dialled(options)).toEqual({ host: 'mail.example.org', port })
  })

  it.each<[Partial<SmtpChannelOptions>, boolean]>([
    [{ port: 465 }, true],
    [{ port: 465, tls: 'starttls' }, false],
    [{ port: 466 }, false],
    [{ tls: 'implicit' }, true],
  ])('with %j is spoken to in TLS from the first byte: %s', async (options, isImplicit) => {
    const firsts: Promise<Buffer>[] = []
    const server = createServer((socket) => {
      socket.on('error', () => {})
      firsts.push(once(socket, 'data').then(([chunk]) => chunk as Buffer))
      // A client that begins with TLS has spoken before it reads this.
      socket.write('220 mail\r\n')
      void firsts[0]!.finally(() => socket.destroy())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const bench = channelBench({ dial: async () => connect(port, '127.0.0.1') })
    const channel = openSmtp({ ...base, ...options }, bench.parts)
    await expect(channel.send(plainMessage({ to: ['ops@example.org'] }), bench.io)).rejects.toThrow()
    const first = await firsts[0]!
    expect(first[0] === 0x16).toBe(isImplicit)
    if (!isImplicit) expect(first.toString()).toBe('EHLO example.org\r\n')
    server.close()
  })

  it.each<[Partial<SmtpChannelOptions>, boolean]>([
    [{ tls: 'none', password: 'x', host: 'mail.example.org' }, false],
    [{ tls: 'none', password: 'x', host: '127.0.0.1.example.org' }, false],
    [{ tls: 'none', password: 'x', host: 'my-localhost' }, false],
    [{ tls: 'none', password: 'x', host: 'localhost' }, true],
    [{ tls: 'none', password: 'x', host: '127.0.0.1' }, true],
    [{ tls: 'none', password: 'x', host: '::1' }, true],
    [{ tls: 'none' }, true],
    [{ tls: 'starttls', password: 'x' }, true],
  ])('with %j can be used: %s', (options, isPossible) => {
    const problem = expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: 'The channel ops would send its password without encryption.',
      fix: { hint: 'Leave out tls: none, or the password.' },
    })
    if (isPossible) expect(() => open(options)).not.toThrow()
    else expect(() => open(options)).toThrow(problem)
  })

  it('that may write to nobody is refused, and its password is hidden', () => {
    expect(() => open({ to: [] })).toThrow(
      expect.objectContaining({
        message: 'The channel ops may write to nobody.',
        fix: { hint: 'Name addresses in to or recipients: anna@example.org, *@example.org.' },
      }),
    )
    expect(() => open({ replyTo: 'nobody' })).toThrow('replyTo of the channel ops is not a mail address.')
    expect(() => open({ to: ['nobody'] })).toThrow('to of the channel ops is not a mail address.')
    expect(open({ user: 'hub', password: 'mail-password' }).hidden).toEqual(['mail-password'])
  })
})

describe('a mail', () => {
  const facts = { from: { name: 'Hub', address: 'hub@example.org' }, callId: 'call 1/x', at: Date.UTC(2026, 0, 1) }
  const mimeOf = async (...[message, more]: [Parameters<typeof plainMessage>[0], object?]) =>
    (await composeMail(plainMessage({ to: ['a@x.org', 'b@x.org'], ...message }), { ...facts, ...more })).toString(
      'utf8',
    )

  it('says who it is from and to, when, and that no person wrote it', async () => {
    const mime = await mimeOf({}, { replyTo: { name: '', address: 'answers@example.org' } })
    for (const line of [
      'From: Hub <hub@example.org>',
      'Reply-To: answers@example.org',
      'To: a@x.org, b@x.org',
      'Subject: Message from tool-hub',
      'Message-ID: <call-1-x@example.org>',
      'Date: Thu, 01 Jan 2026 00:00:00 +0000',
      'Auto-Submitted: auto-generated',
    ])
      expect(mime.split('\r\n')).toContain(line)
    expect(mime).toMatch(/\r\n\r\nHi(\r\n)?$/)
    expect(mime).not.toMatch(/[^\r]\n/)
    expect(await mimeOf({})).not.toContain('Reply-To')
  })

  it('has the title as its subject, and files with their names and types', async () => {
    const content = Buffer.from('<b>')
    const attachments = [{ ref: 'artifact:1', name: 'a.html', mediaType: 'text/html', content }]
    const mime = await mimeOf({ title: 'Hello', attachments })
    expect(mime).toContain('\r\nSubject: Hello\r\n')
    expect(mime).toContain('Content-Type: text/html; name=a.html')
    expect(mime).toContain('Content-Disposition: attachment; filename=a.html')
    expect(mime).toContain(content.toString('base64'))
  })
})
