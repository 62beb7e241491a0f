import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cliFolder } from '../../../../../test/support/cli.ts'
import { definePlugin } from '../../../../core/src/plugin.ts'
import { withHubOf } from './with-hub.ts'

describe('withHubOf', () => {
  it('closes the hub after its use, and when its use or its making fails', async () => {
    const closed: string[] = []
    const plugin = (name: string) => definePlugin({ name, close: () => void closed.push(name) })
    expect(await withHubOf({ plugins: [plugin('used')] }, () => 'outcome')).toBe('outcome')
    const failing = withHubOf({ plugins: [plugin('failed')] }, () => Promise.reject(new Error('in use')))
    await expect(failing).rejects.toThrow('in use')
    const unready = definePlugin({
      ...plugin('unready'),
      required: true,
      setup: () => Promise.reject(new Error('not set up')),
    })
    await expect(withHubOf({ plugins: [unready] }, () => 'never')).rejects.toThrow('not set up')
    expect(closed).toEqual(['used', 'failed', 'unready'])
  })

  it('reports the first failure, not the failure to close that follows; that one is reported if it is the only one', async () => {
    const stuck = definePlugin({ name: 'stuck', close: () => Promise.reject(new Error('cannot close')) })
    const failing = withHubOf({ plugins: [stuck] }, () => Promise.reject(new Error('in use')))
    await expect(failing).rejects.toThrow('in use')
    await expect(withHubOf({ plugins: [stuck] }, () => 'outcome')).rejects.toThrow('cannot close')
  })
})

describe.concurrent('every command closes the hub it made', () => {
  const quiet: readonly [words: string[], code: number, stdin?: string][] = [
    [['list'], 0],
    [['show', 'core/util.time.now'], 0],
    [['show', 'nope'], 2],
    [['policy', 'show'], 0],
    [['policy', 'check'], 0],
    [['policy', 'explain', 'core/util.time.now'], 0],
    [['policy', 'explain', 'closing/write', '--path', 'a.md'], 0],
    [['policy', 'explain', 'nope'], 2],
    [['policy', 'test', '-'], 0, '{"id":1,"tool":"closing/write","input":{"path":"a.md"}}'],
    [['policy', 'test', 'nowhere.jsonl'], 2],
    [['grants'], 0],
    [['grants', 'revoke', 'nothing'], 2],
    [['doctor'], 0],
    [['call', 'core/util.time.now', '{broken'], 2],
    [['batch', 'nowhere.jsonl'], 2],
  ]

  it.each(quiet)('%j: and leaves nothing behind', async (words, code, stdin) => {
    const { path, run, remove } = closingFolder()
    expect((await run(words, stdin)).code).toBe(code)
    expect(readFileSync(join(path, 'closed'), 'utf8')).toBe('closed\n')
    for (const left of ['runs', '.tool-hub']) expect(existsSync(join(path, left))).toBe(false)
    remove()
  })

  it.each<[words: string[], code: number]>([
    [['call', 'core/util.time.now'], 0],
    [['call', 'nope'], 2],
    [['call', 'closing/write', '--path', '../out'], 3],
    [['batch', '-'], 0],
  ])('%j', async (words, code) => {
    const { path, run, remove } = closingFolder()
    expect((await run(words)).code).toBe(code)
    expect(readFileSync(join(path, 'closed'), 'utf8')).toBe('closed\n')
    remove()
  })
})

/** A folder with a plugin that writes down each time it is closed; without a sandbox root, so that runs have their own. */
function closingFolder() {
  const folder = cliFolder('plugins: [./closing.mjs]\n')
  folder.write('closing.mjs', PLUGIN)
  return folder
}

const PLUGIN = `
import { appendFileSync } from 'node:fs'
export default {
  name: 'closing',
  close: () => appendFileSync('closed', 'closed\\n'),
  tools: [
    {
      name: 'closing/write',
      description: 'Writes a file.',
      input: { type: 'object', properties: { path: { type: 'string' } } },
      capabilities: ['write:fs'],
      targets: ({ path }) => ({ 'write:fs': path }),
      execute: () => 'never',
    },
  ],
}
`
