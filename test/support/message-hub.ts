import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { z } from 'zod'
import type { HubOptions } from '../../packages/core/src/options.ts'
import { defineTool } from '../../packages/core/src/tool.ts'
import type { Channel, ChannelOptions } from '../../packages/features/src/messages/channel.ts'
import { type TestHub, testHub } from '../../packages/testing/src/tool-contract.ts'
import { KNOWN, type MessageServices, startMessageServices } from './message-services.ts'

/** Signs what webhooks of these tests get. */
export const HOOK_SECRET = 'a-key-that-signs-webhooks-0001'

const RUN = 'run-messages'

const keepText = defineTool({
  name: 'test/keep',
  description: 'Keeps a text.',
  input: z.strictObject({ text: z.string() }),
  execute: async ({ text }, ctx) => (await ctx.artifact(text)).ref,
})

/** Gives the tests of a file services on loopback, and hubs with channels to them. */
export function useMessages() {
  let hubs: TestHub[] = []
  const state = {
    services: undefined as unknown as MessageServices,
    run: RUN,
    open(channels: Record<string, ChannelOptions | Channel> = {}, options: HubOptions = {}) {
      const hub = testHub({ run: RUN, tools: [keepText], messages: { channels }, ...options }) as unknown as TestHub
      hubs.push(hub)
      const send = (input: object, callOptions?: object) => hub.callDynamic('core/message.send', input, callOptions)
      return { hub, send }
    },
    hook: (path = '/hook', more: object = {}) =>
      ({ kind: 'webhook', url: `${state.services.url}${path}`, secret: HOOK_SECRET, ...more }) as const,
    slack: (more: object = {}) => ({ kind: 'slack', url: `${state.services.url}${KNOWN.slack}`, ...more }) as const,
    discord: (more: object = {}) =>
      ({ kind: 'discord', url: `${state.services.url}${KNOWN.discord}`, ...more }) as const,
    telegram: (more: object = {}) => {
      const { url: apiUrl } = state.services
      return { kind: 'telegram', token: KNOWN.token, chats: ['-100', '@Ops_Room'], apiUrl, ...more } as const
    },
    recordOf: (hub: TestHub) => readFileSync(join(hub.folder, 'runs', RUN, 'events.jsonl'), 'utf8'),
    /** An artifact of the run. */
    keep: async (hub: TestHub, text: string) => (await hub.callDynamic('test/keep', { text })).data as string,
  }
  beforeAll(async () => {
    state.services = await startMessageServices()
  })
  beforeEach(() => {
    state.services.got.length = 0
    state.services.upsets.length = 0
  })
  afterEach(async () => {
    await Promise.all(hubs.map((hub) => hub.close()))
    hubs = []
  })
  afterAll(() => state.services.close())
  return state
}

/** A port that nobody listens at. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
