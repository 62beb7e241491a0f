import { describe, expect, it } from 'vitest'
import { messagesConfig } from './config.ts'

describe('messages of a config', () => {
  it('are channels as a hub takes them: times in milliseconds, rates as buckets, references left as they are', () => {
    const written = messagesConfig.schema.parse({
      channels: {
        ops: { kind: 'slack', url: '${env:SLACK_WEBHOOK_URL}', rate: '30/min', timeout: '5s', perDay: 200 },
        bot: { kind: 'telegram', token: '${secret:bot}', chats: [-1001, '@ops_room'] },
      },
    })
    expect(messagesConfig.toOptions(written, String)).toEqual({
      channels: {
        ops: {
          kind: 'slack',
          url: '${env:SLACK_WEBHOOK_URL}',
          rate: { perSecond: 0.5, burst: 30 },
          timeoutMs: 5_000,
          perDay: 200,
        },
        bot: { kind: 'telegram', token: '${secret:bot}', chats: ['-1001', '@ops_room'] },
      },
    })
  })

  it.each([
    ['a secret in the clear', { ops: { kind: 'slack', url: 'https://hooks.slack.com/services/T/B/x' } }],
    ['a password in the clear', { m: { kind: 'smtp', host: 'h', from: 'a@b.org', password: 'x' } }],
    ['an unknown kind', { x: { kind: 'pigeon' } }],
    ['an unknown key', { x: { kind: 'console', sound: 'on' } }],
    ['a name that is none', { 'Ops Room': { kind: 'console' } }],
    ['a bot without chats', { x: { kind: 'telegram', token: '${env:T}', chats: [] } }],
  ])('may not hold %s', (_, channels) => {
    expect(messagesConfig.schema.safeParse({ channels }).success).toBe(false)
  })
})
