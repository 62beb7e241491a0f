import { readFileSync } from 'node:fs'
import { ToolError } from '@tool-hub/core/errors'
import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import { knownKeys } from '../packages/config/src/check-config.ts'
import { BudgetLedger } from '../packages/runtime/src/limits/budget.ts'
import { RateLimiter } from '../packages/runtime/src/limits/throughput.ts'
import { fakeClock } from '../packages/testing/src/fake-clock.ts'
import { sourceFiles } from './support/source-files.ts'

/** Keys that name an argument of the call, of the tool or of the program that calls, not a line of tool-hub.yaml. */
const ARGUMENTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['packages/sandbox/src/files/change/draft.ts', ['overwrite']],
  ['packages/sandbox/src/files/change/change-scope.ts', ['capabilities']],
  ['packages/sandbox/src/files/change/place.ts', ['mkdirp']],
  ['packages/sandbox/src/files/change/remove-path.ts', ['recursive']],
  ['packages/runtime/src/tools/fs/delete-path.ts', ['confirm']],
  ['packages/runtime/src/tools/fs/patch/parse-patch.ts', ['input']],
  ['packages/runtime/src/tools/fs/patch/plan-patch.ts', ['input']],
  ['packages/runtime/src/tools/fs/read/read-decoded.ts', ['encoding']],
  ['packages/runtime/src/tools/fs/read-text.ts', ['path', 'end_line', 'offset']],
  ['packages/policy/src/decide/decide.ts', ['grants']],
  ['packages/runtime/src/records/log/open-run.ts', ['run']],
  ['packages/runtime/src/hub/prune-runs.ts', ['run']],
  ['packages/runtime/src/tools/fs/write-text.ts', ['filePath']],
  ['packages/core/src/names.ts', ['run']],
  ['packages/runtime/src/tools/util/gzip-decompress.ts', ['maxBytes', 'base64']],
  ['packages/runtime/src/tools/util/json-select.ts', ['maxBytes']],
  ['packages/runtime/src/tools/util/mustache/template-renderer.ts', ['template', 'partials', 'maxBytes']],
  ['packages/runtime/src/tools/util/meter.ts', ['path']],
  ['packages/runtime/src/tools/util/time-now.ts', ['timezone']],
])

const schema = JSON.parse(readFileSync('packages/tool-hub/config.schema.json', 'utf8'))
const sources = sourceFiles('packages')
  .filter((file) => !/\.(test|test-d|generated)\.ts$/.test(file))
  .map((file) => ({ file, code: withoutComments(readFileSync(file, 'utf8')) }))

describe('what an error says the owner has to change', () => {
  it('is a key of tool-hub.yaml, unless it is an argument', () => {
    const keys = sources.flatMap(({ file, code }) =>
      [...code.matchAll(/fix: \{\s*key: '([^']+)'|return \{ key: '([^']+)'/g)].map((match) => ({
        file,
        key: (match[1] ?? match[2])!,
      })),
    )
    expect(keys.length).toBeGreaterThan(20)
    expect(keys.filter(({ file, key }) => !isConfigKey(key) && !ARGUMENTS.get(file)?.includes(key))).toEqual([])
    const used = new Set(keys.map(({ file, key }) => `${file} ${key}`))
    const exceptions = [...ARGUMENTS].flatMap(([file, names]) => names.map((name) => `${file} ${name}`))
    expect(exceptions.filter((exception) => !used.has(exception))).toEqual([])
  })

  it('is a key of tool-hub.yaml where a sentence names it', () => {
    const named = sources.flatMap(({ file, code }) =>
      // A route names the method of the client in the same form.
      textsIn(code.replaceAll(/\b(?:client|name): '(?:approvals|limits|sandbox|redact)\.[^']*'/g, ''))
        .flatMap((text) => text.match(/(?<![.\w])(?:limits|sandbox|approvals|redact)\.[a-z]\w*(?:\.[a-z]\w*)*/g) ?? [])
        .map((key) => ({ file, key })),
    )
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter(({ key }) => !isConfigKey(key) && !/\.(?:ts|mjs|js)$/.test(key))).toEqual([])
  })

  it.each(['calls', 'wallMs', 'bytes', 'cost'] as const)('is a key of tool-hub.yaml for a budget of %s', (unit) => {
    const none = { [unit]: 0 }
    for (const scope of [{ run: none }, { session: none }, { tools: { 'notes.save': none } }]) {
      const ledger = new BudgetLedger(scope, createMemoryStore().budgets, fakeClock())
      expect(isConfigKey(keyOf(() => ledger.reserve({ run: 'r', tool: 'notes.save', cost: 1 })))).toBe(true)
    }
  })

  it('is a key of tool-hub.yaml for a rate', () => {
    const never = { perSecond: 0 }
    for (const limits of [{ all: never }, { tools: { 'notes.save': never } }]) {
      const limiter = new RateLimiter(limits, createMemoryStore().rates, fakeClock())
      limiter.take('notes.save')
      expect(isConfigKey(keyOf(() => limiter.take('notes.save')))).toBe(true)
    }
  })
})

/** True for `limits.run.time`, and for `limits.tools["notes.save"].calls`. */
function isConfigKey(key: string): boolean {
  const path = [...key.matchAll(/\["([^"]+)"\]|[^.[]+/g)].map((match) => match[1] ?? match[0])
  return knownKeys(schema, path.slice(0, -1)).includes(path.at(-1)!)
}

function keyOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (ToolError.is(error)) return error.fix.key ?? ''
  }
  throw new Error('nothing was refused')
}

function withoutComments(code: string): string {
  return code.replaceAll(/^\s*(?:\/\/|\/\*|\*).*$/gm, '')
}

/** The texts of a program, without what is computed inside them. */
function textsIn(code: string): string[] {
  const texts = code.match(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g) ?? []
  return texts.map((text) => text.replaceAll(/\$\{[^}]*\}/g, ''))
}
