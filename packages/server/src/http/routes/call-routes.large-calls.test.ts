import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { type HttpServed, serveHttp } from '../../../../../test/support/http-served.ts'
import { defineTool } from '../../../../core/src/tool.ts'

const CONNECTIONS = 4
const CALLS = 20
const sink = defineTool({
  name: 'sink',
  description: 'Takes anything.',
  input: z.strictObject({ value: z.unknown() }),
  execute: () => 'taken',
})

const agent = new Agent({ keepAlive: true })
let served: HttpServed
beforeAll(async () => {
  served = await serveHttp({ tools: [sink] })
})
afterAll(async () => {
  agent.destroy()
  await served.close()
})

function post(token: string, body: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const url = new URL('/v1/tools/sink/call', served.server.url)
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode!))
    })
    sending.once('error', reject).end(body)
  })
}

it('of one token, one after the other on several connections, leave room for the calls of others', async () => {
  const greedy = await served.newToken('greedy', ['call'])
  const modest = await served.newToken('modest', ['call'])
  const entries = Array.from({ length: 49_000 }, (_, index) => [`key-${(index * 7_919) % 49_000}`, index])
  const large = JSON.stringify({ input: { value: Object.fromEntries(entries) } })
  let isOver = false
  let completed = 0
  let begun = () => {}
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  const loops = Array.from({ length: CONNECTIONS }, async () => {
    while (!isOver) {
      expect(await post(greedy, large)).toBe(200)
      completed++
      begun()
    }
  })
  await hasBegun
  const before = completed
  for (let index = 0; index < CALLS; index++) {
    expect(await post(modest, JSON.stringify({ input: { value: index } }))).toBe(200)
  }
  const meanwhile = completed - before
  isOver = true
  await Promise.all(loops)
  // Without turns every call of the others waits for whole large calls, several of them.
  expect(meanwhile).toBeLessThanOrEqual(CALLS)
})

it('of one token, however many wait, let the call of another in between', async () => {
  const greedy = await served.newToken('has-many', ['call'])
  const modest = await served.newToken('has-one', ['call'])
  const body = JSON.stringify({ input: { value: 'x'.repeat(100_000) } })
  // Opens the run of each.
  await Promise.all([post(greedy, body), post(modest, body)])
  const completed: string[] = []
  const send = async (token: string, name: string) => {
    expect(await post(token, body)).toBe(200)
    completed.push(name)
  }
  const backlog = Array.from({ length: 100 }, () => send(greedy, 'greedy'))
  await Promise.all([...backlog, send(modest, 'modest')])
  // It was sent last, and without turns it ends last.
  expect(completed.indexOf('modest')).toBeLessThan(50)
})
