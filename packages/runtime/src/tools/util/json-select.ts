import { defineTool, lazyModule, ToolError } from '@tool-hub/core'
import { z } from 'zod'
import { invalidPath, jsonSize, Meter } from './meter.ts'

const loadJsonpath = lazyModule(() => import('./select/jsonpath.ts'))

const loadJmespath = lazyModule(() => import('./select/jmespath.ts'))

const CHEAPER = 'Name the keys instead of searching everywhere (.., *), filter once, or select in two calls.'

const MAX_BYTES = 10_485_760

/** Selects values from JSON with JSONPath or JMESPath. */
export const jsonSelect = defineTool({
  name: 'core/util.json.select',
  title: 'Select from JSON',
  description:
    'Pick, filter or reshape parts of a JSON value you already have. A path that begins with $ is JSONPath (RFC 9535) and ' +
    'gives the array of all values found; any other path is JMESPath and gives one value, null when nothing is there. ' +
    'Use it to cut a large result down before reading it. Not for text search, and not for files: read the file first.',
  input: z.strictObject({
    json: z.unknown().describe('The JSON value to select from: an object, an array or a scalar, not a JSON text.'),
    path: z
      .string()
      .min(1)
      .max(4096)
      .describe('JSONPath ($.items[?@.price < 10].name) or JMESPath (items[?price < `10`].name | [0]).'),
    maxBytes: z
      .int()
      .min(1024)
      .max(MAX_BYTES)
      .default(1_048_576)
      .describe('The most bytes the selected value may have as JSON.'),
  }),
  output: z.strictObject({
    value: z.unknown().describe('What was selected: an array for JSONPath, any JSON value for JMESPath.'),
  }),
  examples: [
    {
      input: { json: { items: [{ name: 'pen', price: 2 }] }, path: '$.items[?@.price < 10].name' },
      note: 'JSONPath: ["pen"]',
    },
    { input: { json: { user: { name: 'Ada' } }, path: 'user.name' }, note: 'JMESPath: "Ada"' },
  ],
  category: 'util',
  tags: ['json', 'jsonpath', 'jmespath', 'query', 'filter'],
  version: '1.0.0',
  async execute({ json, path, maxBytes }, ctx) {
    const value = await select(json, path)
    const bytes = jsonSize(value, MAX_BYTES)
    if (bytes > maxBytes) throw tooLarge(bytes, maxBytes)
    ctx.evidence({ type: 'tool', ref: ctx.callId, summary: `selected ${describe(value)}, ${bytes} bytes of JSON` })
    return { value }
  },
  toModel: ({ value }) => JSON.stringify(value),
})

function tooLarge(bytes: number, maxBytes: number): ToolError {
  const size = bytes > MAX_BYTES ? `more than ${MAX_BYTES}` : bytes
  return new ToolError('FILE_TOO_LARGE', `The selected value has ${size} bytes as JSON, the limit is ${maxBytes}.`, {
    fix: {
      key: 'maxBytes',
      hint: 'Select less (fewer keys, a slice, a filter), or write the whole to a file.',
    },
    details: { bytes, maxBytes },
  })
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (value === null) return 'null'
  return typeof value === 'object' ? `an object with ${Object.keys(value).length} keys` : `a ${typeof value}`
}

type Language = (json: unknown, path: string, meter: Meter) => unknown

/** Selects with JSONPath if the path begins with `$`, otherwise with JMESPath; each is loaded when first used. */
async function select(json: unknown, path: string): Promise<unknown> {
  if (path.startsWith('$')) {
    const { selectByJsonPath } = await loadJsonpath()
    return run(selectByJsonPath, json, path)
  }
  if (path.trimStart().startsWith('$')) throw invalidPath('a JSONPath has no blanks before its $.', { index: 0 })
  const { selectByJmesPath } = await loadJmespath()
  return run(selectByJmesPath, json, path)
}

function run(language: Language, json: unknown, path: string): unknown {
  try {
    return language(json, path, new Meter('The path', CHEAPER)) ?? null
  } catch (error) {
    if (ToolError.is(error)) throw error
    // Only the stack limits how deep a path of a few thousand characters can nest.
    if (error instanceof RangeError) throw invalidPath('it is nested too deeply.', { cause: error })
    throw error
  }
}
