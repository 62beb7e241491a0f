import { describe, expect, it } from 'vitest'
import { useLoopback } from '../../../../test/support/loopback.ts'

const local = useLoopback()

describe('a host that is not allowed', () => {
  const refusal = (url: string, allowedHosts: readonly string[]) => {
    try {
      return local.guard({ allowedHosts }).resolve(url)
    } catch (error) {
      const { message, fix } = error as Error & { fix: { key: string; value: string; hint: string } }
      return { message, ...fix }
    }
  }

  it.each([
    ['http://localhost/', 'localhost', ' and 127.0.0.1/32 to sandbox.privateRanges'],
    ['http://127.9.8.7/', '127.9.8.7', ' and 127.0.0.1/32 to sandbox.privateRanges'],
    ['http://[::1]/', '[::1]', ' and ::1/128 to sandbox.privateRanges'],
    ['http://[::2]/', '[::2]', ''],
    ['http://mylocalhost/', 'mylocalhost', ''],
    ['http://localhost.example/', 'localhost.example', ''],
    ['http://127.0.0.1.example/', '127.0.0.1.example', ''],
    ['http://a.example/', 'a.example', ''],
  ])('as %s needs these settings', (url, host, range) => {
    expect(refusal(url, ['b.example'])).toEqual({
      message: `The host ${host} is not one the owner allows.`,
      key: 'sandbox.network',
      value: host,
      hint: `Use an allowed host (b.example), or have the owner add ${host} to sandbox.network${range}.`,
    })
  })

  it.each(['http://169.254.169.254/', 'http://[fd00:ec2::254]/', 'http://[::ffff:169.254.169.254]/'])(
    'is not suggested for sandbox.network if it is a metadata address: %s',
    (url) => {
      const { message, hint } = refusal(url, ['b.example']) as { message: string; hint: string }
      expect(message).toContain('metadata address')
      expect(hint).not.toContain('sandbox.network')
    },
  )

  it('is reported with up to ten that are', () => {
    const hosts = Array.from({ length: 12 }, (_, at) => `h${at}.example`)
    const named = (count: number) => (refusal('http://a.example/', hosts.slice(0, count)) as { hint: string }).hint
    const ten = hosts.slice(0, 10).join(', ')
    expect(named(10)).toContain(`(${ten}), or`)
    expect(named(11)).toContain(`(${ten} and 1 more), or`)
    expect(named(12)).toContain(`(${ten} and 2 more), or`)
    expect(refusal('http://a.example/', [])).toMatchObject({
      message: 'The host a.example is not one the owner allows: sandbox.network names none.',
      hint: 'Use an allowed host (none), or have the owner add a.example to sandbox.network.',
    })
  })
})

describe('a body over its limit', () => {
  const OWNER = { maxBytes: 100, usualBytes: 50, maxDownloadBytes: 200 }
  const overLimit = async (asked: object, call: object = {}, owner: object = OWNER) => {
    local.answer = (_, response) => response.end('x'.repeat(1_000))
    try {
      const response = await local.fetchWith(owner, call)('http://a.example/', asked)
      return (await response.bytes()).length
    } catch (error) {
      const { message, fix, details } = error as Error & { fix: { hint: string }; details: { limit: number } }
      return [/limit is (\d+)/.exec(message)?.[1], details.limit, fix.hint]
    }
  }

  it.each([
    [{}, {}, 50, 'Raise maxBytes (at most 100 here), or download it to a file.'],
    [{ maxBytes: 70 }, {}, 70, 'Raise maxBytes (at most 100 here), or download it to a file.'],
    [{ maxBytes: 100 }, {}, 100, 'Have the owner raise limits.http, or download it to a file.'],
    [{ maxBytes: 999 }, {}, 100, 'Have the owner raise limits.http, or download it to a file.'],
    [
      { maxBytes: 999 },
      { maxBytes: 60 },
      60,
      'Have the owner raise the size limit of the rule, or download it to a file.',
    ],
    [{}, { maxBytes: 999 }, 50, 'Raise maxBytes (at most 100 here), or download it to a file.'],
    [{ stream: true }, {}, 200, 'Have the owner raise limits.download.'],
    [{ stream: true, maxBytes: 10 }, {}, 10, 'Raise maxBytes (at most 200 here).'],
    [{ stream: true }, { maxBytes: 60 }, 60, 'Have the owner raise the size limit of the rule.'],
  ])('for %j by a rule of %j says who can raise it', async (asked, call, limit, hint) => {
    expect(await overLimit(asked, call)).toEqual([String(limit), limit, hint])
  })

  it('is bounded for streams as for others where the owner says nothing of them', async () => {
    expect(await overLimit({ stream: true }, {}, { maxBytes: 100 })).toEqual([
      ...['100', 100, 'Have the owner raise limits.download.'],
    ])
    expect(await overLimit({}, {}, { maxBytes: 100 })).toEqual([
      ...['100', 100, 'Have the owner raise limits.http, or download it to a file.'],
    ])
    expect(await overLimit({}, {}, { maxBytes: 1_000 })).toBe(1_000)
  })
})

describe('where a host is', () => {
  it('is asked for by name only where the owner spells it out, if that is wanted', async () => {
    const guard = local.guard({ allowedHosts: ['a.example', '*.b.example', '8.8.8.8'] })
    const place = { addresses: ['93.184.216.34'], isOpened: false }
    expect(await guard.locate('http://a.example/', { onlyNamed: true })).toEqual(place)
    expect(await guard.locate('http://x.b.example/', { onlyNamed: true })).toBeUndefined()
    expect(await guard.locate('http://x.b.example/', { onlyNamed: false })).toEqual(place)
    expect(await guard.locate('http://8.8.8.8/', { onlyNamed: true })).toMatchObject({ addresses: ['8.8.8.8'] })
    await expect(guard.locate('http://c.example/', { onlyNamed: false })).rejects.toMatchObject({
      code: 'HTTP_DISALLOWED_HOST',
    })
  })
})

describe('the key of a POST that may be repeated', () => {
  it('is sent, encoded, only with the word of the owner', async () => {
    const keys: unknown[] = []
    local.answer = (request, response) => {
      keys.push(request.headers['idempotency-key'])
      response.end()
    }
    const send = (call: object, method = 'POST') => local.fetchWith({}, call)('http://a.example/', { method })
    await send({ idempotencyKey: 'ä b', postRetries: 1 })
    await send({ idempotencyKey: 'k', postRetries: 0 })
    await send({ idempotencyKey: 'k' })
    await send({ postRetries: 1 })
    await send({ idempotencyKey: 'k', postRetries: 1 }, 'PUT')
    expect(keys).toEqual(['%C3%A4%20b', undefined, undefined, undefined, undefined])
  })
})
