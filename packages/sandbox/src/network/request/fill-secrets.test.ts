import { expect, it } from 'vitest'
import { useLoopback } from '../../../../../test/support/loopback.ts'
import type { NetworkGuardOptions } from '../network-guard.ts'
import { fillSecrets, hasSecret, openSecrets } from './fill-secrets.ts'

const local = useLoopback()
const VALUE = 'ghp_1234567890'
const secrets = new Map([['github', { value: VALUE, hosts: ['api.example', '*.api.example', '127.0.0.1'] }]])
const reference = (name: string) => `\${secret:${name}}`
const headers = { authorization: `Bearer ${reference('github')}` }

/** A guard whose machine of the owner is the loopback server itself. */
const atHome: Partial<NetworkGuardOptions> = {
  privateRanges: ['127.0.0.1'],
  resolve: undefined,
  dial: undefined,
  secrets,
}

async function failure(fetching: Promise<unknown>) {
  const error = (await fetching.then(
    () => undefined,
    (thrown) => thrown,
  )) as Error & { code: string; fix: { key?: string; value?: unknown } }
  expect(JSON.stringify([error, error.message, error.stack, error.cause])).not.toContain(VALUE)
  return error
}

it('puts the value in its place at the last moment', async () => {
  local.answer = (request, response) => response.end(request.headers.authorization)
  const response = await local.fetchWith(atHome)(`http://127.0.0.1:${local.port}/`, { headers })
  expect(await response.text()).toBe(`Bearer ${VALUE}`)
})

it('gives it to no host but its own', async () => {
  for (const url of ['https://evil.example/', 'https://api.example.evil.example/', 'https://xapi.example/']) {
    const error = await failure(local.fetchWith({ secrets })(url, { headers }))
    const fix = { key: 'secrets.github.hosts', value: new URL(url).hostname }
    expect(error).toMatchObject({ code: 'HTTP_DISALLOWED_HOST', fix })
  }
  expect(local.sockets).toEqual([])
})

it('sends it over https only, unless the place is the owner’s own', async () => {
  const error = await failure(local.fetchWith({ secrets })('http://api.example/', { headers }))
  expect([error.code, error.message]).toEqual([
    'HTTP_DISALLOWED_HOST',
    'The secret github is not sent to api.example over plain http.',
  ])
  // A public address stays public, however much the owner opened.
  const open = { secrets, privateRanges: ['0.0.0.0/0'] }
  expect((await failure(local.fetchWith(open)('http://api.example/', { headers }))).code).toBe('HTTP_DISALLOWED_HOST')
  expect(local.sockets).toEqual([])
})

it('leaves it behind on a redirect to another origin, in whatever header it stands', async () => {
  const seen: unknown[] = []
  local.answer = (request, response) => {
    seen.push([request.headers.authorization, request.headers.accept])
    const location = { '/1': '/2', '/2': `http://other.example:${local.port}/3` }[request.url!]
    response.writeHead(location ? 302 : 200, location ? { location } : {}).end()
  }
  const fetch = local.fetchWith({ ...atHome, resolve: async () => ['127.0.0.1'] })
  await fetch(`http://127.0.0.1:${local.port}/1`, { headers: { ...headers, accept: reference('github') } })
  expect(seen).toEqual([
    [`Bearer ${VALUE}`, VALUE],
    [`Bearer ${VALUE}`, VALUE],
    [undefined, undefined],
  ])
})

it('says which key to set if the secret does not exist', async () => {
  const error = await failure(local.fetchWith({ secrets })('https://api.example/', { headers: { a: reference('x') } }))
  expect(error).toMatchObject({ code: 'NOT_FOUND', fix: { key: 'secrets.x' } })
})

it('does not send a value that would become two headers, and does not tell it either', async () => {
  const broken = new Map([['github', { value: `${VALUE}\r\nx: y`, hosts: ['*'] }]])
  const error = await failure(local.fetchWith({ secrets: broken })('https://api.example/', { headers }))
  expect(error.code).toBe('CONFIG_INVALID')
  expect(local.sockets).toEqual([])
})

it('fills every reference of every header, and leaves the others as they are', () => {
  const store = openSecrets(new Map([...secrets, ['other', { value: 'o', hosts: ['api.example'] }]]))
  const given = new Map([
    ['a', `${reference('github')} ${reference('other')}`],
    ['b', '${secret:'],
    ['c', 'plain'],
  ])
  const fill = (url: string, isOwners = false) => fillSecrets(given, new URL(url), store, isOwners)
  const filled = { a: `${VALUE} o`, b: '${secret:', c: 'plain' }
  expect(Object.fromEntries(fill('https://api.example/'))).toEqual(filled)
  expect(Object.fromEntries(fill('http://api.example/', true))).toEqual(filled)
  expect(given.get('a')).toContain('secret:')
  const plain = new Map([['c', 'plain']])
  expect(fillSecrets(plain, new URL('http://evil.example/'), store, false)).toBe(plain)
  expect([hasSecret(reference('x')), hasSecret('$secret')]).toEqual([true, false])
})

it('says what is wrong with a secret, and what to do', () => {
  const failed = (header: string, url: string, value = VALUE) => {
    const store = openSecrets(new Map([['github', { value, hosts: ['api.example'] }]]))
    try {
      return fillSecrets(new Map([['a', header]]), new URL(url), store, false)
    } catch (error) {
      const { message, fix } = error as Error & { fix: { hint: string; key?: string } }
      return [message, fix.hint, fix.key]
    }
  }
  expect(failed(reference('n'.repeat(101)), 'https://api.example/')).toEqual([
    `Secret "${'n'.repeat(100)}" not found.`,
    'Use a name the owner has set, or have the owner set this one.',
    `secrets.${'n'.repeat(100)}`,
  ])
  expect(failed(reference('github'), 'https://evil.example/')).toEqual([
    'The secret github is not for the host evil.example.',
    'Use the host it is for, or have the owner add this one.',
    'secrets.github.hosts',
  ])
  expect(failed(reference('github'), 'http://api.example:81/')).toEqual([
    ...['The secret github is not sent to api.example:81 over plain http.', 'Use https.', undefined],
  ])
  expect(failed(reference('github'), 'https://api.example/', 'x\n')).toEqual([
    'A secret in the header a has a character that no header can carry.',
    'Have the owner check the value, e.g. for a line end after it.',
    undefined,
  ])
})
