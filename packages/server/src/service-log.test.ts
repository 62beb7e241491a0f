import { join } from 'node:path'
import { createClient } from '@tool-hub/client'
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { fakeClock } from '../../testing/src/fake-clock.ts'
import { createLog, formatJson, formatText, type LogEntry } from './service-log.ts'
import { type RunningService, startService } from './start-service.ts'

const services: RunningService[] = []
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close()))
})

const TOKEN = `th_${'x'.repeat(43)}`

async function start() {
  const home = temporaryFolder()
  const entries: LogEntry[] = []
  const service = await startService(
    {
      runs: join(home, 'runs'),
      data: join(home, 'data'),
      policy: [{ deny: 'core/util.hash.sha256Text' }, { ask: 'core/util.time.now' }],
      redact: { values: ['hunter2-hunter2'] },
    },
    { port: 0, shutdownMs: 1_000, onLog: (entry) => void entries.push(entry) },
  )
  services.push(service)
  const owner = createClient({ url: service.url, token: service.token })
  const of = (event: string) => entries.filter((entry) => entry.event === event)
  return { service, owner, entries, of }
}

describe('the log of a service', () => {
  it('has the start, sign-ins, refusals, denials, changes and the end, and nothing secret', async () => {
    const { service, owner, entries, of } = await start()
    const signIn = (token: string) =>
      fetch(`${service.url}/v1/sessions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: service.url },
        body: JSON.stringify({ token }),
      })
    expect((await signIn(service.token)).status).toBe(201)
    expect((await signIn(TOKEN)).status).toBe(401)
    await fetch(`${service.url}/v1/me?token=${TOKEN}`, { headers: { authorization: `Bearer ${TOKEN}` } })
    await owner.call('core/util.hash.sha256Text', { text: 'hunter2-hunter2' })
    const { token, secret } = await owner.tokens.create({ name: 'ci', scopes: ['call'] })
    await owner.tokens.revoke(token.id)
    expect(of('service-started')).toMatchObject([{ level: 'info', fields: { version: expect.any(String) } }])
    expect(of('signed-in')).toMatchObject([{ level: 'info', fields: { principal: 'owner', address: '127.0.0.1' } }])
    expect(of('sign-in-refused')).toMatchObject([{ level: 'warn', fields: { status: 401 } }])
    expect(of('request-refused')).toMatchObject([{ level: 'warn', fields: { code: 'UNAUTHENTICATED' } }])
    expect(of('call-denied')).toMatchObject([
      { level: 'warn', fields: { tool: 'core/util.hash.sha256Text', principal: 'owner', code: 'POLICY_DENIED' } },
    ])
    expect(of('token-created')).toMatchObject([{ level: 'info', fields: { by: 'owner' } }])
    expect(of('token-revoked')).toHaveLength(1)
    await service.close()
    expect(entries.at(-1)).toMatchObject({ event: 'service-stopped' })
    const all = entries.map(formatJson).join('\n')
    for (const hidden of [TOKEN, secret, service.token, 'hunter2']) expect(all).not.toContain(hidden)
    for (const line of all.split('\n')) expect(JSON.parse(line)).toHaveProperty('level')
  })

  it('does not take a call that needs an approval for a failure, nor its end for an answer', async () => {
    const { service, owner, entries, of } = await start()
    const { secret } = await owner.tokens.create({ name: 'ci', scopes: ['call'] })
    const agent = createClient({ url: service.url, token: secret })
    const call = () => agent.call('core/util.time.now', {}, { onAsk: 'return' })
    expect(await call()).toMatchObject({ status: 'approval_required' })
    expect(of('call-needs-approval')).toMatchObject([
      { level: 'info', fields: { tool: 'core/util.time.now', principal: 'token:ci' } },
    ])
    expect(of('approval-unanswered')).toMatchObject([{ level: 'info', fields: { decision: 'unavailable' } }])
    expect(entries.filter(({ event }) => ['call-failed', 'approval-answered'].includes(event))).toEqual([])
    const [waiting] = await owner.approvals.list()
    await owner.approvals.answer(waiting!.id, { decision: 'allow', remember: 'once' })
    expect(await call()).toMatchObject({ ok: true })
    expect(of('approval-answered')).toMatchObject([{ fields: { decision: 'allow', by: 'owner' } }])
  })

  it('is not flooded by one address, and says how many lines were left out', async () => {
    const clock = fakeClock()
    const entries: LogEntry[] = []
    const log = createLog({ clock, redact: (text) => text, write: (entry) => void entries.push(entry) })
    const refuse = () => log('warn', 'request-refused', 'No.', { address: '10.0.0.1' })
    for (let time = 0; time < 100; time++) refuse()
    log('warn', 'request-refused', 'No.', { address: '10.0.0.2' })
    expect(entries).toHaveLength(21)
    await clock.advance(60_000)
    refuse()
    expect(entries.at(-1)?.fields).toEqual({ address: '10.0.0.1', leftOut: 80 })
  })

  it('is readable on a terminal, one line an entry', () => {
    const entry: LogEntry = {
      time: '2026-11-16T12:30:01.000Z',
      level: 'warn',
      event: 'call-denied',
      message: 'core/exec.run was denied.\nreally',
      fields: { principal: 'token:ci', rule: 'deny exec' },
    }
    expect(formatText(entry)).toBe(
      '12:30:01 warn  core/exec.run was denied.\\nreally principal=token:ci rule="deny exec"',
    )
  })
})
