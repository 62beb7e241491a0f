import { ToolError } from '@tool-hub/core/errors'
import { expect, it } from 'vitest'
import { Renewals } from './oauth-fetch.ts'

const answer =
  (status: number, body: unknown = {}) =>
  async () =>
    new Response(JSON.stringify(body), { status })
const never = () => Promise.reject(new Error('Nobody may be asked.'))
const read = async (renewing: Promise<Response>) => (await renewing).json()

it.each([200, 400, 428, 430, 499])('hands an answer with status %i on', async (status) => {
  expect((await new Renewals().renew('r1', answer(status))).status).toBe(status)
})

it.each([429, 500, 503])('takes status %i for an authorization server that is unavailable', async (status) => {
  const message = `The authorization server answered a renewal with status ${status}.`
  await expect(new Renewals().renew('r1', answer(status))).rejects.toMatchObject({
    name: 'OAuthError',
    code: 'temporarily_unavailable',
    message,
    cause: { code: 'UPSTREAM_ERROR', message },
  })
})

it('passes on what is not an error of the table as it is', async () => {
  const defect = new Error('a defect')
  await expect(new Renewals().renew('r1', () => Promise.reject(defect))).rejects.toBe(defect)
  const failure = new ToolError('UPSTREAM_ERROR', 'No connection')
  await expect(new Renewals().renew('r1', () => Promise.reject(failure))).rejects.toMatchObject({ cause: failure })
})

it('answers a later renewal of the new token from memory, until the access token is refused', async () => {
  const renewals = new Renewals()
  const first = { access_token: 'a2', refresh_token: 'r2' }
  expect(await read(renewals.renew('r1', answer(200, first)))).toEqual(first)
  for (const _ of [1, 2]) expect(await read(renewals.renew('r2', never))).toEqual(first)
  renewals.refuse('a1')
  expect(await read(renewals.renew('r2', never))).toEqual(first)
  const third = { access_token: 'a3' }
  expect(await read(renewals.renew('r1', answer(200, third)))).toEqual(third)
  // Without a new refresh token the old one stays.
  expect(await read(renewals.renew('r1', never))).toEqual(third)
  renewals.refuse('a3')
  expect(await read(renewals.renew('r1', answer(200, first)))).toEqual(first)
})

it.each([
  ['a failure', answer(400, { access_token: 'a2', refresh_token: 'r1' })],
  ['an answer without a token', answer(200, { refresh_token: 'r1' })],
  ['an answer that is no JSON', async () => new Response('<html>')],
])('remembers nothing of %s', async (_, ask) => {
  const renewals = new Renewals()
  await renewals.renew('r1', ask)
  const next = { access_token: 'a9', refresh_token: 'r9' }
  expect(await read(renewals.renew('r1', answer(200, next)))).toEqual(next)
})

it('asks once for renewals at the same time, and anew after one that failed', async () => {
  const renewals = new Renewals()
  let asked = 0
  const fail = () => {
    asked++
    return Promise.reject(new Error('no'))
  }
  const both = await Promise.allSettled([
    renewals.renew('r1', fail),
    renewals.renew('r1', fail),
    renewals.renew('r2', fail),
  ])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(asked).toBe(2)
  await expect(renewals.renew('r1', fail)).rejects.toThrow('no')
  expect(asked).toBe(3)
})
