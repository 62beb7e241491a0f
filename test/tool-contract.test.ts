import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type AnyTool, ToolError } from '@tool-hub/core'
import { type AnySchema, compileSchema } from '@tool-hub/core/schema'
import { builtinTools } from '@tool-hub/library/builtin-tools'
import { featureToolLoaders } from '@tool-hub/library/generated/tool-loaders'
import { coreToolLoaders } from '@tool-hub/runtime/tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { refuseReservedName } from '../packages/adapters/src/sources/reserved-names.ts'
import { toolContract } from '../packages/testing/src/tool-contract.ts'

const loaders = { ...coreToolLoaders, ...featureToolLoaders }

/** Tools whose examples need somebody or something that a test has not; all else about them holds. */
const NEEDS: Readonly<Record<string, string | RegExp>> = {
  'core/ask.user': 'APPROVAL_UNAVAILABLE',
  'core/canvas': 'APPROVAL_UNAVAILABLE',
  'core/browser': /HTTP_DISALLOWED_HOST|No tab is open/,
  'core/code.cancel': 'NOT_FOUND',
  'core/code.wait': 'NOT_FOUND',
  'core/exec.process': 'NOT_FOUND',
  'core/session.history': 'NOT_FOUND',
  'core/session.send': 'NOT_FOUND',
  'core/session.spawn': 'CONFIG_INVALID',
  'core/session.status': 'NOT_FOUND',
  'core/http.fetchText': 'HTTP_DISALLOWED_HOST',
  'core/http.fetchJson': 'HTTP_DISALLOWED_HOST',
  'core/http.downloadFile': 'HTTP_DISALLOWED_HOST',
  'core/http.head': 'HTTP_DISALLOWED_HOST',
  'core/memory.forget': 'NOT_FOUND',
  'core/memory.update': 'NOT_FOUND',
  'core/web.fetch': 'HTTP_DISALLOWED_HOST',
  'core/web.search': 'CONFIG_INVALID',
}

/** What the examples of the file tools are about. */
const FILES: Readonly<Record<string, string>> = {
  'app.py': 'def main():\n    pass\n',
  'build/out.js': 'built',
  'config.json': '{ "debug": false }\n',
  'data/export.csv': 'a,b\n',
  'download.zip': 'PK',
  'draft.md': '# Draft\n',
  'notes.md': 'teh notes, teh end\n',
  'package.json': '{ "scripts": { "test": "true" } }',
  'old/a.txt': 'old',
  'server.log': 'line\n'.repeat(6_000),
  'template/readme.md': '# Template\n',
}

let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tool-contract-'))
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), text)
  }
})

afterEach(() => rm(root, { recursive: true }))

describe('the names of built-in tools', () => {
  it('can be taken by no tool of others, in no dialect', () => {
    const names = builtinTools.flatMap(({ dialects = {} }: AnyTool) =>
      Object.values(dialects).flatMap(({ name, aliases = [] }) => [name, ...aliases]),
    )
    const refused = names.filter((name) => {
      try {
        refuseReservedName(name)
        return false
      } catch (error) {
        return error instanceof ToolError
      }
    })
    expect(names).toContain('browser')
    expect(refused).toEqual(names)
  })
})

describe('every built-in tool', () => {
  for (const tool of builtinTools) {
    it(`${tool.name} keeps the contract`, async () => {
      const broken = await toolContract(tool, { sandbox: { root } })
      const needed = NEEDS[tool.name]
      expect(broken.filter((line) => needed === undefined || line.search(needed) === -1)).toEqual([])
    })

    it(`${tool.name} has a title, a category, tags, a version and a described output`, () => {
      expect(tool.title && tool.category && tool.version && tool.output).toBeTruthy()
      expect(tool.tags?.length).toBeGreaterThan(0)
      expect(tool.name).toMatch(/^core\/[a-z]+(\.[a-zA-Z0-9]+)*$/)
    })

    it(`${tool.name} is in the catalogue as it is defined`, async () => {
      const defined = await loaders[tool.name as keyof typeof loaders]()
      expect(shapeOf(tool)).toEqual(shapeOf({ dialects: {}, ...defined }))
    })
  }
})

/** A definition as data: schemas as JSON Schema, and `function` in the place of code. */
function shapeOf(tool: object): unknown {
  const entries = Object.entries(tool).map(([key, value]) => {
    if (typeof value === 'function') return [key, 'function']
    if (key === 'input' || key === 'output') return [key, compileSchema(value as AnySchema, { side: key }).jsonSchema()]
    if (key !== 'dialects') return [key, value]
    return [key, Object.entries(value as object).map(([kind, dialect]) => [kind, shapeOf(dialect)])]
  })
  return Object.fromEntries(entries)
}
