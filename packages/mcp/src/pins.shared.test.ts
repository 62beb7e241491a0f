import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type SourceHost, type SourceStore, ToolError } from '@tool-hub/core'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Received, scriptedHost } from '../../../test/support/scripted-mcp-server.ts'
import { networkStore, pinsOf, sourceStore } from '../../../test/support/source-store.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import type { ServerToolDefinition } from './definitions.ts'
import { hashDefinition } from './definitions.ts'
import { Pins } from './pins.ts'
import { RunningServers } from './running-servers.ts'

const NOW = new Date('2026-11-15T00:00:00Z')
const LATER = new Date('2026-11-16T00:00:00Z')
const define = (tool: string, description: string): ServerToolDefinition => {
  const definition = { tool, title: undefined, description, input: {}, output: undefined, annotations: {} }
  return { ...definition, hash: hashDefinition(definition) }
}

let folder = ''
beforeEach(() => {
  folder = temporaryFolder('shared-pins')
})

const connect = () => networkStore(join(folder, 'store'))

/** The pins as a machine of this name sees them. */
function machine(name: string): Pins {
  const data = join(folder, name)
  return new Pins({ data, store: { ...connect(), earlier: sourceStore(data).documents } })
}

describe('pins in a shared store', () => {
  it('hold on all machines: what is first seen, what has changed, and what is accepted', async () => {
    const [one, other] = [machine('one'), machine('other')]
    expect((await one.review('s', [define('add', 'Adds.')], NOW)).drifts.size).toBe(0)
    expect((await other.review('s', [define('add', 'Mails.')], LATER)).drifts.size).toBe(1)
    expect((await one.list('s')).map(({ drifted }) => drifted?.at)).toEqual([LATER.toISOString()])
    expect(await one.accept('s')).toEqual(['add'])
    expect((await other.review('s', [define('add', 'Mails.')], LATER)).drifts.size).toBe(0)
    expect((await other.review('s', [define('add', 'Adds.')], LATER)).drifts.size).toBe(1)
    expect(await other.list('t')).toEqual([])
    expect(await other.forget('s')).toBe(1)
    expect(await one.list('s')).toEqual([])
    for (const name of ['one', 'other']) expect(existsSync(join(folder, name))).toBe(false)
  })

  it('are pinned once when machines see a server for the first time at the same moment', async () => {
    const machines = ['a', 'b', 'c', 'd'].map((name) => machine(name))
    const seen = machines.map((pins, index) => pins.review('s', [define('add', `Version ${index}.`)], NOW))
    const drifted = (await Promise.all(seen)).filter(({ drifts }) => drifts.size > 0)
    expect(drifted).toHaveLength(3)
    expect(await machines[0]!.list('s')).toHaveLength(1)
  })

  it('begin with those of a machine that had a store of its own: moving accepts nothing', async () => {
    const before = pinsOf(join(folder, 'one'))
    await before.review('s', [define('add', 'Adds.')], NOW)
    await before.review('s', [define('add', 'Mails.')], NOW)
    const [one, other] = [machine('one'), machine('other')]
    expect((await one.review('s', [define('add', 'Mails.')], LATER)).drifts.size).toBe(1)
    expect((await other.review('s', [define('add', 'Mails.')], LATER)).drifts.size).toBe(1)
    expect(await other.forget('s')).toBe(1)
    // What was forgotten does not come back from the data folder.
    expect(await one.list('s')).toEqual([])
  })

  it('have the limits of a server', async () => {
    const pins = machine('one')
    const many = Array.from({ length: 2_100 }, (_, index) => define(`tool-${index}`, 'x'.repeat(2_000)))
    expect((await pins.review('evil', many, NOW)).unpinned.size).toBe(100)
    expect(await pins.list('evil')).toHaveLength(2_000)
  })
})

describe('a hub whose pins are in a shared store', () => {
  function open(store: SourceStore, data: string) {
    const tools = [{ name: 'go', description: 'Reads.' }]
    const reply = ({ method }: Received) => (method === 'tools/list' ? { result: { tools } } : undefined)
    const expected: Parameters<SourceHost['expect']>[] = []
    const host = {
      data: join(folder, data),
      store,
      expect: (...given: (typeof expected)[0]) => void expected.push(given),
    }
    const scripted = scriptedHost({ reply }, host)
    const running = new RunningServers({ a: { command: 'x' } }, { host: scripted.host, env: {} })
    onTestFinished(() => running.close())
    const arrive = () => (expected[0]![1] as () => Promise<unknown>)()
    return { ...scripted, running, tools, arrive }
  }

  it('takes what the owner accepts on another machine', async () => {
    const { running, tools, arrive, clock } = open(connect(), 'one')
    await arrive()
    tools[0]!.description = 'Deletes.'
    await running.accept('a')
    expect(running.status()).toMatchObject([{ changed: ['mcp/a.go'] }])
    expect(await machine('other').accept('a')).toEqual(['go'])
    await clock.advance(2_000)
    await expect.poll(() => running.status()[0]).not.toHaveProperty('changed')
    expect(clock.waiting).toBe(0)
  })

  it('doubts everything while the store is away, and compares again when it is back', async () => {
    const store = connect()
    let isAway = false
    const guarded =
      <T extends unknown[], R>(work: (...values: T) => R) =>
      (...values: T): R => {
        if (isAway) throw new ToolError('CONFLICT', 'The store is away.', { retryable: true })
        return work(...values)
      }
    const documents = { read: guarded(store.documents.read), write: guarded(store.documents.write) }
    const { running, arrive, clock, warnings } = open({ ...store, documents }, 'one')
    await arrive()
    expect(running.status()[0]).not.toHaveProperty('changed')
    isAway = true
    await expect(running.accept('a')).rejects.toThrow('The store is away.')
    expect(clock.waiting).toBe(0)
    const away = open({ ...store, documents }, 'two')
    await away.arrive()
    expect(away.running.status()).toMatchObject([{ changed: ['mcp/a.go'], state: 'connected' }])
    await away.clock.advance(4_000)
    expect(away.running.status()).toMatchObject([{ changed: ['mcp/a.go'] }])
    isAway = false
    await away.clock.advance(2_000)
    await expect.poll(() => away.running.status()[0]).not.toHaveProperty('changed')
    await expect.poll(() => away.clock.waiting).toBe(0)
    expect(warnings).toEqual([])
  })
})
