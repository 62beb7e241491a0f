import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'

const urlOf = (path: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, path)).href)

it('a hub without a data folder works where SQLite cannot be loaded', () => {
  const source = `
    import Module from 'node:module'
    const load = Module._load
    Module._load = (name, ...rest) => {
      if (name.includes('sqlite')) throw new Error('No SQLite here')
      return load(name, ...rest)
    }
    const { createMemoryStore, createToolHub, defineTool } = await import(${urlOf('../../../library/src/index.ts')})
    const { z } = await import('zod')
    const add = defineTool({
      name: 'test/add',
      description: 'Adds two numbers, a and b.',
      input: z.strictObject({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => ({ sum: a + b }),
    })
    const store = createMemoryStore()
    const hub = createToolHub({ tools: [add], store, runs: false, limits: { run: { calls: 2 }, rate: { perSecond: 9 } } })
    const codes = []
    for (const idempotencyKey of ['a', 'a', 'b', 'c']) {
      const result = await hub.call(add, { a: 1, b: 2 }, { idempotencyKey })
      codes.push(result.ok ? result.data.sum : result.error.code)
    }
    await hub.close()
    let missing
    try {
      store.grants.list()
    } catch ({ code, message }) {
      missing = code + ' ' + message
    }
    await store.sweep(0)
    await store.close()
    console.log(JSON.stringify({ codes, missing }))`
  const loader = pathToFileURL(join(import.meta.dirname, '../../../../test/support/load-typescript.mjs')).href
  const output = execFileSync(process.execPath, ['--import', loader, '--input-type=module', '-e', source], {
    cwd: join(import.meta.dirname, '../../../..'),
    encoding: 'utf8',
  })
  expect(JSON.parse(output)).toEqual({
    codes: [3, 3, 3, 'BUDGET_EXCEEDED'],
    missing: 'CONFIG_INVALID SQLite cannot be loaded: No SQLite here',
  })
})
