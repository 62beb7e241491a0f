import { describe, expect, it } from 'vitest'
import { SigningKey } from './hash.ts'

const secret = Buffer.alloc(32, 7)
const key = new SigningKey(secret, 'tests v1')

describe('a signed text', () => {
  it('is recognized by every process with the secret', () => {
    const signature = key.sign('job', 'text')
    expect(signature).toMatch(/^[\w-]{43}$/)
    expect(new SigningKey(secret, 'tests v1').isSigned('job', 'text', signature)).toBe(true)
  })

  it('is not one with another content, kind, purpose or secret', () => {
    const signature = key.sign('job', 'text')
    const others = [
      new SigningKey(secret),
      new SigningKey(secret, 'tests v2'),
      new SigningKey(Buffer.alloc(32, 8), 'tests v1'),
    ]
    expect(others.map((other) => other.isSigned('job', 'text', signature))).toEqual([false, false, false])
    expect([key.isSigned('job', 'test', signature), key.isSigned('outcome', 'text', signature)]).toEqual([false, false])
  })

  it.each([undefined, 7, '', 'AAAA', `${key.sign('job', 'text')}AAAA`, ['x']])(
    'does not have the signature %j',
    (given) => {
      expect(key.isSigned('job', 'text', given)).toBe(false)
    },
  )

  it('may have its signature in plain base64, as processes of 0.1.0 sign jobs of workers', () => {
    const plain = Buffer.from(key.sign('job', 'text'), 'base64url').toString('base64')
    expect(key.isSigned('job', 'text', plain)).toBe(true)
  })
})

it('the signatures of version 0.1.0 are the same: processes of different versions work together', () => {
  expect([key.sign('request', 'text'), new SigningKey(secret).sign('tool-hub job', '{}')]).toEqual([
    'SvpbV8DNjuKPSHT7Q-bBoDfA2T0WlnWDwJwibrEH9Wo',
    'sZMt0aKe8Nr3sJdvF1SJhfn6wyaTeH9TFlQuBKkhyDk',
  ])
})
