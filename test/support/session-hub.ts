import type { SessionStatus } from '@tool-hub/features/sessions/types'
import { afterEach } from 'vitest'
import { z } from 'zod'
import type { ToolResult } from '../../packages/core/src/call.ts'
import type { HubOptions } from '../../packages/core/src/options.ts'
import { defineTool } from '../../packages/core/src/tool.ts'
import type { SessionWork } from '../../packages/features/src/sessions/runner.ts'
import { type TestHub, testHub } from '../../packages/testing/src/tool-contract.ts'

/** For what another process, or a program, has to do first. */
export const PATIENT = { timeout: 100_000, interval: 10 }

/** A runner whose sessions do what a test tells them, one by one. */
export function puppets() {
  const works = new Map<string, SessionWork>()
  const ends = new Map<string, { resolve: (text: string) => void; reject: (error: Error) => void }>()
  const run = (work: SessionWork) => {
    works.set(work.task, work)
    return new Promise<string>((resolve, reject) => ends.set(work.task, { resolve, reject }))
  }
  return { run, work: (task: string) => works.get(task)!, end: (task: string) => ends.get(task)! }
}

/** Hubs with a runner, closed after each test; calls are those of the run `root`. */
export function useSessions() {
  const hubs: TestHub[] = []
  afterEach(async () => {
    await Promise.all(hubs.splice(0).map((hub) => hub.close({ abort: true })))
  })
  return (options: HubOptions = {}, more: Parameters<typeof setUp>[2] = {}) => setUp(hubs, options, more)
}

function setUp(hubs: TestHub[], options: HubOptions = {}, { run = async (_: SessionWork) => 'done' } = {}) {
  const hub = testHub({ ...options, sessions: { runners: { default: { run } }, ...options.sessions } })
  hubs.push(hub as TestHub)
  const call = (tool: string, input: object, more: object = {}) =>
    hub.callDynamic(tool, input, { run: 'root', ...more })
  const spawn = async (task: string, more: object = {}, how: object = {}) => {
    const result = await call('sessions_spawn', { task, ...more }, how)
    return (result.data as { session: { id: string; state: string; reason?: string; result?: string } }).session
  }
  const status = async (session?: string, how: object = {}) =>
    (await call('session_status', session === undefined ? {} : { session }, how)).data as SessionStatus
  return { hub, call, spawn, status }
}

/** What a call gave. */
export const dataOf = <T>(result: ToolResult) => result.data as T
const fetchPage = defineTool({
  name: 'test/fetch',
  description: 'Stands for a tool that reads the web.',
  input: z.strictObject({}),
  capabilities: ['network'],
  execute: () => 'a page',
})
const note = defineTool({
  name: 'test/note',
  description: 'A pure tool.',
  input: z.strictObject({}),
  execute: () => 'noted',
})
const send = defineTool({
  name: 'test/send',
  description: 'Sends something away.',
  input: z.strictObject({}),
  capabilities: ['send'],
  execute: () => 'sent',
})
/** One that reads the web, a pure one, and one that sends something away. */
export const TOOLS = [fetchPage, note, send] as const
