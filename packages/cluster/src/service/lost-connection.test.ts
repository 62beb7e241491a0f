import { afterEach, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type ClusterService,
  holdTool,
  type ServedCluster,
  serveCluster,
} from '../../../../test/support/cluster-served.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { startWire, type Wire } from '../../../../test/support/wire.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { type FakeClock, fakeClock } from '../../../testing/src/index.ts'

const { hold, held } = holdTool()

/** The side effects, by argument. */
let acted: string[]
const act = defineTool({
  name: 'act',
  description: 'Does something elsewhere, and waits until it is released.',
  input: z.strictObject({ what: z.string() }),
  capabilities: ['remote'],
  async execute({ what }, ctx) {
    acted.push(what)
    await hold.execute({}, ctx)
    return what
  },
})

let clock: FakeClock
let cluster: ServedCluster
/** The service that callers use, and the one that has their run. */
let first: ClusterService
let second: ClusterService
/** All requests of the first service to the second one go over it; both always reach the store. */
let wire: Wire
beforeEach(async () => {
  acted = []
  clock = fakeClock()
  // The clock of the transports; heartbeats and leases have the one of the machine.
  cluster = await serveCluster(2, { tools: [hold, act], policy: [{ allow: 'remote' }] }, { clock })
  ;[first, second] = cluster.services as [ClusterService, ClusterService]
  wire = await startWire(Number(new URL(second.address).port))
  second.hub.cluster!.describe({ address: wire.url })
  await second.hub.cluster!.beat()
  await first.hub.cluster!.beat()
  const opened = callAt(second, 'open')
  await release(1)
  expect(await opened).toMatchObject({ code: 200, ok: true })
})
afterEach(async () => {
  held.release()
  wire.close()
  await cluster.close()
})

interface Answer {
  /** The HTTP status. */
  readonly code: number
  readonly ok?: boolean
  readonly data?: unknown
  readonly error?: { readonly code: string; readonly retryable: boolean; readonly fix: { readonly hint: string } }
}

it('a call whose connection was cut and that ended meanwhile is answered by its key, and executed once', async () => {
  const lost = callAt(first, 'pay')
  await eventually(() => expect(acted).toEqual(['open', 'pay']))
  wire.isCut = true
  held.release()
  expect(await whileTimePasses(lost)).toMatchObject(LOST)
  expect(await whileTimePasses(callAt(first, 'pay'))).toMatchObject(UNREACHABLE)
  wire.isCut = false
  expect(await callAt(first, 'pay')).toMatchObject({ code: 200, ok: true, data: 'pay' })
  expect(acted).toEqual(['open', 'pay'])
})

it('a call whose connection was cut and that still runs is answered by its key once it ends, and executed once', async () => {
  const lost = callAt(first, 'pay')
  await eventually(() => expect(acted).toEqual(['open', 'pay']))
  wire.isCut = true
  expect(await whileTimePasses(lost)).toMatchObject(LOST)
  wire.isCut = false
  const again = callAt(first, 'pay')
  held.release()
  expect(await again).toMatchObject({ code: 200, ok: true, data: 'pay' })
  expect(acted).toEqual(['open', 'pay'])
})

it('a call that was lost on the way to its process is executed once, by the call that repeats it', async () => {
  wire.isCut = true
  const lost = callAt(first, 'pay')
  expect(await whileTimePasses(lost)).toMatchObject({ error: { code: 'UPSTREAM_ERROR', retryable: true } })
  expect(acted).toEqual(['open'])
  wire.isCut = false
  const again = callAt(first, 'pay')
  await release(2)
  expect(await again).toMatchObject({ code: 200, ok: true, data: 'pay' })
  expect(acted).toEqual(['open', 'pay'])
})

const LOST = {
  code: 502,
  error: { code: 'UPSTREAM_ERROR', retryable: true, fix: { hint: expect.stringContaining('same idempotency key') } },
}
const UNREACHABLE = {
  code: 503,
  error: { code: 'UPSTREAM_ERROR', retryable: true, fix: { hint: expect.stringContaining('Nothing was executed') } },
}

/** Calls `act` in the run of the second service; the argument is the idempotency key as well. */
async function callAt(service: ClusterService, what: string): Promise<Answer> {
  const json = { run: 'kept', input: { what }, idempotencyKey: what }
  const response = await service.fetch('/v1/tools/act/call', { json })
  return { ...((await response.json()) as Omit<Answer, 'code'>), code: response.status }
}

/** Lets the call with this side effect end. */
async function release(effects: number): Promise<void> {
  await eventually(() => expect(acted).toHaveLength(effects))
  await eventually(() => expect(held.begun).toBeGreaterThanOrEqual(effects))
  held.release()
}

/** Moves the clock until there is an answer; real connections work meanwhile. */
async function whileTimePasses<T>(work: Promise<T>): Promise<T> {
  let isDone = false
  void work.finally(() => {
    isDone = true
  })
  while (!isDone) await clock.advance(500)
  return work
}
