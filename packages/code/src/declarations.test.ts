import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { toolDeclarations } from './declarations.ts'

interface Described {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema?: Record<string, unknown>
  readonly outputSchema?: Record<string, unknown>
}

const declared = (tools: readonly Described[]) =>
  toolDeclarations(
    tools.map(({ name, description = '', inputSchema: parameters = { type: 'object' }, outputSchema }) => {
      return { name, card: { description, parameters, ...(outputSchema && { output: outputSchema }) } }
    }),
  )

it('declares tools by their paths, with the types of their schemas', () => {
  const inputSchema = {
    type: 'object',
    required: ['path'],
    properties: {
      path: { type: 'string', description: 'Where it is.' },
      lines: { type: ['integer', 'null'] },
      mode: { enum: ['text', 'json', 1, null] },
      'max-size': { anyOf: [{ type: 'number' }, { type: 'boolean' }] },
      tags: { type: 'array', items: { const: 'a' } },
      more: { type: 'object', additionalProperties: { type: 'string' } },
    },
  }
  const text = declared([
    { name: 'core/fs.readText', description: 'Reads a file.', inputSchema, outputSchema: { type: 'string' } },
    { name: 'my-plugin/my-tool' },
    { name: 'core/fs' },
  ])
  expect(text).toContain('  core: {\n    fs: {\n      (input?: Record<string, unknown>): Promise<unknown>\n')
  expect(text).toContain(
    '      /** Reads a file. */\n      readText(input: { /** Where it is. */ path: string; lines?: number | null; ' +
      'mode?: "text" | "json" | 1 | null; "max-size"?: number | boolean; tags?: Array<"a">; ' +
      'more?: Record<string, string> }): Promise<string>',
  )
  expect(text).toContain('  "my-plugin": {\n    "my-tool"(input?: Record<string, unknown>): Promise<unknown>\n')
  expect(errorsOf(text)).toEqual([])
})

it('lets TypeScript find wrong arguments of a script', () => {
  const inputSchema = { type: 'object', required: ['path'], properties: { path: { type: 'string' } } }
  const text = declared([{ name: 'core/fs.readText', inputSchema, outputSchema: { type: 'string' } }])
  expect(errorsOf(`${text}\nexport const a: string = await tools.core.fs.readText({ path: 'x' })`)).toEqual([])
  expect(errorsOf(`${text}\nexport const a = await tools.core.fs.readText({ path: 1 })`)).toHaveLength(1)
  expect(errorsOf(`${text}\nexport const a = await tools.core.fs.readTxt({ path: 'x' })`)).toHaveLength(1)
})

it('follows references, and stops where they lead back', () => {
  const tree = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/tree' } } } }
  const cyclic = { $ref: '#/$defs/tree', $defs: { tree, loop: { $ref: '#/$defs/loop' } } }
  const text = declared([
    { name: 'a', inputSchema: cyclic },
    { name: 'b', inputSchema: { $ref: '#' } },
    { name: 'c', inputSchema: { $ref: '#/constructor' }, outputSchema: { $ref: 'https://example.com/x' } },
  ])
  expect(text).toContain('a(input?: { children?: Array<unknown> }): Promise<unknown>')
  expect(text).toContain('b(input?: unknown): Promise<unknown>')
  expect(text).toContain('c(input?: unknown): Promise<unknown>')
})

it.each([
  ['a comment that ends', { description: 'x */ } declare const stolen: 1 /* \u2028 \n y' }],
  ['names that are code', { properties: { '"]: 1 } \n\u2028': { type: 'string', description: '*/ evil' } } }],
  ['values that are code', { enum: ['"; evil()', '\u2029', { a: 1 }, Number.NaN] }],
  ['an invalid schema', { type: 5, properties: [], anyOf: {}, items: null }],
  ['parts of allOf', { allOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { enum: [] }] }],
])('prints valid TypeScript for %s', (_, schema) => {
  const description = 'description' in schema ? schema.description : undefined
  const text = declared([{ name: 'x', description, inputSchema: schema, outputSchema: schema }])
  expect(errorsOf(text)).toEqual([])
  expect(errorsOf(`${text}\nexport const a = stolen`)).toHaveLength(1)
})

it('stays small for schemas that are deep or wide', () => {
  let deep: Record<string, unknown> = { type: 'string' }
  for (let depth = 0; depth < 10_000; depth++) deep = { type: 'array', items: deep }
  const branch = { type: 'array', items: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] } }
  const names = Array.from({ length: 50 }, (_, index) => `d${index}`)
  const all = { type: 'array', items: { anyOf: names.map((name) => ({ $ref: `#/$defs/${name}` })) } }
  const multiplying = { ...all, $defs: Object.fromEntries(names.map((name) => [name, all])) }
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`p${index}`, { type: 'string' }]))
  const text = declared([
    { name: 'deep', inputSchema: deep },
    { name: 'wide', inputSchema: { type: 'object', properties: wide } },
    { name: 'multiplying', inputSchema: multiplying },
    { name: 'branching', inputSchema: { $ref: '#/$defs/a', $defs: { a: branch, b: branch } } },
  ])
  expect(text.length).toBeLessThan(10_000)
  expect(errorsOf(text)).toEqual([])
})

/** What TypeScript says about a module with this text. */
function errorsOf(text: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'th-declarations-'))
  try {
    const file = join(folder, 'script.mts')
    writeFileSync(file, `${text}\nexport {}\n`)
    const flags = [
      '--noEmit',
      '--strict',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--lib',
      'es2022',
      '--types',
      '',
    ]
    const tsc = resolve('node_modules/typescript/bin/tsc')
    const { stdout, error } = spawnSync(process.execPath, [tsc, ...flags, file], { cwd: folder, encoding: 'utf8' })
    if (error) throw error
    return stdout.split('\n').filter((line) => line.includes('error TS'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
