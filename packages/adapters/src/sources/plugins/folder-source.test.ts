import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { type TestHub, testHub } from '../../../../testing/src/tool-contract.ts'
import { fromFolder } from './plugin-sources.ts'

let folder: string
let warnings: string[]
const hubs: TestHub[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-folder-'))
  warnings = []
  vi.spyOn(process, 'emitWarning').mockImplementation((text) => void warnings.push(String(text)))
})

afterEach(async () => {
  for (const hub of hubs.splice(0)) await hub.close({ abort: true })
  vi.restoreAllMocks()
  await rm(folder, { recursive: true, force: true })
})

const write = (name: string, source: string) => writeFile(join(folder, name), source)
const tool = (name: string, says: string) =>
  `{ name: '${name}', description: 'Says it.', input: { type: 'object' }, execute: () => '${says}' }`

async function hubOf({ watch = false, ...options }: { watch?: boolean } & Parameters<typeof testHub>[0] = {}) {
  const hub = testHub({ sources: [fromFolder(folder, { watch })], ...options }) as unknown as TestHub
  hubs.push(hub)
  await hub.ready()
  return hub
}

const data = async (hub: TestHub, name: string, input: unknown = {}) => {
  const result = await hub.callDynamic(name, input)
  return result.ok ? result.data : result.error.code
}

describe('a folder of tools', () => {
  it('takes the handler form that the registry takes', async () => {
    const parameters = `{ type: 'object', properties: { name: { type: 'string' } } }`
    const handler = `(_, { name }) => ({ content: 'Hi ' + name, is_error: false })`
    await write(
      'greet.mjs',
      `export default { name: 'greet', description: 'Greets.', parameters: ${parameters}, handler: ${handler} }`,
    )
    const hub = await hubOf({ policy: [{ allow: 'greet' }] })
    expect(warnings).toEqual([])
    const { error } = await (await hubOf()).callDynamic('greet', { name: 'Ada' })
    expect(error).toMatchObject({
      code: 'POLICY_DENIED',
      fix: { hint: expect.stringContaining('counts as able to run commands; it can declare capabilities instead') },
    })
    expect(await hub.callDynamic('greet', { name: 'Ada' })).toMatchObject({ ok: true, content: [{ text: 'Hi Ada' }] })
  })

  it('gives a tool, a list, an AgentTool, a plugin of tools alone, and what a function gives', async () => {
    await write('a.mjs', `export default ${tool('a.one', 'one')}`)
    await write('b.js', `export default [${tool('b.one', 'b1')}, ${tool('b.two', 'b2')}]`)
    await write(
      'c.mjs',
      `export default { name: 'agent', description: 'Agent.', parameters: { type: 'object' },
        execute: async () => ({ content: [{ type: 'text', text: 'agent' }] }) }`,
    )
    await write('d.mjs', `export default { name: 'd', tools: [${tool('d.one', 'd')}] }`)
    await write('e.mjs', `export default async () => [${tool('e.one', 'e')}]`)
    await write('note.txt', 'no module')
    await write('.hidden.mjs', 'export default 1')
    const hub = await hubOf({ policy: [{ allow: 'agent' }] })
    expect(await Promise.all(['a.one', 'b.one', 'b.two', 'd.one', 'e.one'].map((name) => data(hub, name)))).toEqual([
      'one',
      'b1',
      'b2',
      'd',
      'e',
    ])
    expect(await data(hub, 'agent')).toMatchObject({ content: [{ text: 'agent' }] })
    expect(warnings).toEqual([])
  })

  it('names each file without tools, and continues with the others', async () => {
    await write('broken.mjs', '\n\nexport default { name: 1 execute: 2 }')
    await write('good.mjs', `export default ${tool('good', 'yes')}`)
    await write('hooked.mjs', `export default { name: 'h', tools: [], hooks: { decide: () => 'deny' } }`)
    await write('nothing.mjs', 'export const tool = 1')
    await write('number.mjs', 'export default 5')
    await write('schemaless.mjs', `export default { name: 'x', execute() {} }`)
    await write('throws.mjs', `throw new Error('not\\u001b[2J today')`)
    await write('unnamed.mjs', `export default ${tool('no name', 'x')}`)
    const hub = await hubOf()
    expect(await data(hub, 'good')).toBe('yes')
    const about = (file: string) => warnings.filter((text) => text.includes(`/${file}.mjs`)).join()
    expect(about('hooked')).toContain('list it under plugins: in tool-hub.yaml')
    expect(about('nothing')).toContain('no default export')
    expect(about('number')).toContain('neither a tool nor a list of tools')
    expect(about('schemaless')).toContain('neither input nor parameters')
    expect(about('throws')).toMatch(/not\\u\{1b\}\[2J today/)
    expect(about('unnamed')).toContain('is not a tool name')
    expect(about('broken')).not.toBe('')
    expect(warnings.length).toBe(7)
  })

  it('takes the first of two files that have one name', async () => {
    await write('a.mjs', `export default ${tool('same', 'a')}`)
    await write('b.mjs', `export default [${tool('same', 'b')}, ${tool('other', 'b')}]`)
    const hub = await hubOf()
    expect([await data(hub, 'same'), await data(hub, 'other')]).toEqual(['a', 'b'])
    expect(warnings).toEqual([expect.stringMatching(/b\.mjs: the tool same is in .*a\.mjs already/)])
  })

  it('does not load links, nor what others can write', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'tool-hub-elsewhere-'))
    await writeFile(join(elsewhere, 'evil.mjs'), `export default ${tool('evil', 'x')}`)
    await symlink(join(elsewhere, 'evil.mjs'), join(folder, 'evil.mjs'))
    await write('shared.mjs', `export default ${tool('shared', 'x')}`)
    await chmod(join(folder, 'shared.mjs'), 0o666)
    const hub = await hubOf()
    expect([await data(hub, 'evil'), await data(hub, 'shared')]).toEqual(['TOOL_NOT_FOUND', 'TOOL_NOT_FOUND'])
    expect(warnings.sort()).toEqual([
      expect.stringMatching(/evil\.mjs gives no tools: it is a link/),
      expect.stringMatching(/shared\.mjs gives no tools: it can be written by other users \(mode 666\)/),
    ])
    await rm(elsewhere, { recursive: true })
  })

  it.each([
    ['can be written by anybody', () => chmod(folder, 0o777)],
    ['is not there', () => rm(folder, { recursive: true })],
  ])('that %s gives no tools, and is reported', async (_, change) => {
    await write('a.mjs', `export default ${tool('a.one', 'one')}`)
    await change()
    const hub = await hubOf()
    expect(await data(hub, 'a.one')).toBe('TOOL_NOT_FOUND')
    expect(warnings).toEqual([expect.stringContaining(`The folder of tools ${folder}: `)])
  })

  it('does not wait for ever for a module', async () => {
    await write('good.mjs', `export default ${tool('good', 'yes')}`)
    await write('slow.mjs', `export default () => new Promise(() => {})`)
    const clock = fakeClock()
    const hub = testHub({ sources: [fromFolder(folder)], clock }) as unknown as TestHub
    hubs.push(hub)
    // One timer for each module; the one that loads takes its own away.
    while (clock.waiting !== 1) await new Promise((resolve) => setImmediate(resolve))
    const ready = hub.ready()
    for (let isReady = false; !isReady; ) {
      void ready.then(() => {
        isReady = true
      })
      await clock.advance(10_000)
    }
    expect(await data(hub, 'good')).toBe('yes')
    expect(warnings).toEqual([expect.stringMatching(/slow\.mjs gives no tools: it did not load within 10000 ms/)])
  })
})

describe('a folder that is watched', () => {
  /** Resolves when the hub is next notified of other tools. */
  const changed = (hub: TestHub) =>
    new Promise<void>((resolve) => {
      const stop = hub.onToolsChanged(() => {
        stop()
        resolve()
      })
    })

  it('loads what is added and changed, and drops what is removed or broken', async () => {
    await write('a.mjs', `export default ${tool('a.one', 'first')}`)
    await write('b.mjs', `export default ${tool('b.one', 'stays')}`)
    const hub = await hubOf({ watch: true })
    const before = hub.registry.get('b.one')

    let change = changed(hub)
    await write('a.mjs', `export default ${tool('a.one', 'second')}`)
    await change
    expect(await data(hub, 'a.one')).toBe('second')

    change = changed(hub)
    await write('a.mjs', 'export default {')
    await change
    const gone = await hub.callDynamic('a.one', {})
    expect(gone.error).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/a\.one is gone: .*a\.mjs gives no tools now: /),
    })
    expect(warnings.length).toBe(1)

    change = changed(hub)
    await write('a.mjs', `export default [${tool('a.one', 'third')}, ${tool('a.two', 'new')}]`)
    await change
    expect([await data(hub, 'a.one'), await data(hub, 'a.two')]).toEqual(['third', 'new'])

    change = changed(hub)
    await rm(join(folder, 'a.mjs'))
    await change
    expect([await data(hub, 'a.one'), await data(hub, 'b.one')]).toEqual(['TOOL_NOT_FOUND', 'stays'])
    expect(hub.registry.get('b.one')).toBe(before)
  })

  it('looks by itself where nobody tells, and tells of tools only when there are others', async () => {
    await write('a.mjs', `export default ${tool('a.one', 'first')}`)
    const clock = fakeClock()
    const hub = await hubOf({ watch: true, clock })
    const told = vi.fn()
    hub.onToolsChanged(told)
    await clock.advance(10_000)
    expect(told).not.toHaveBeenCalled()
    // A folder that was made anew is not the one that is watched.
    await rm(folder, { recursive: true })
    while (!told.mock.calls.length) await clock.advance(2_000)
    expect(await data(hub, 'a.one')).toBe('TOOL_NOT_FOUND')
  })

  it('ends with its hub', async () => {
    const clock = fakeClock()
    const hub = await hubOf({ watch: true, clock })
    await hub.close()
    hubs.splice(0)
    expect(clock.waiting).toBe(0)
  })
})
