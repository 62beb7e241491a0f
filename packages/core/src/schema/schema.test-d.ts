// Compile-time checks: `tsc` is the test runner, nothing here runs.
import { Type as TypeBox0 } from '@sinclair/typebox'
import { type } from 'arktype'
import { Type as TypeBox1 } from 'typebox'
import { z } from 'zod'
import { defineTool, type ToolInput, type ToolOutput } from '../tool.ts'

type Equal<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false
declare function is<T extends true>(_?: T): void
declare function isNot<T extends false>(_?: T): void

// zod: a default is optional for the caller and present in execute
export const readText = defineTool({
  name: 'core/fs.readText',
  description: 'Read a text file.',
  input: z.strictObject({ path: z.string(), maxBytes: z.int().default(5_000_000) }),
  output: z.strictObject({ text: z.string(), bytes: z.int() }),
  capabilities: ['read:fs'],
  targets: ({ path }) => ({ 'read:fs': path }),
  examples: [{ input: { path: 'a.txt' } }],
  async execute(input, ctx) {
    is<Equal<typeof input, { path: string; maxBytes: number }>>()
    const text = await ctx.fs.readText(input.path, { maxBytes: input.maxBytes })
    // @ts-expect-error write:fs was not declared
    ctx.fs.writeText
    // @ts-expect-error network was not declared
    ctx.fetch
    return { text, bytes: text.length }
  },
  toModel: ({ text }) => text,
})
is<Equal<ToolInput<typeof readText>, { path: string; maxBytes?: number | undefined }>>()
is<Equal<ToolOutput<typeof readText>, { text: string; bytes: number }>>()
is<Equal<(typeof readText)['name'], 'core/fs.readText'>>()

// zod: transforms change what execute sees, not what the caller passes
export const parse = defineTool({
  name: 'parse',
  description: '',
  input: z.object({ count: z.string().transform(Number) }),
  execute: ({ count }) => count,
})
is<Equal<ToolInput<typeof parse>, { count: string }>>()
is<Equal<ToolOutput<typeof parse>, number>>()

// arktype
export const ark = defineTool({
  name: 'ark',
  description: '',
  input: type({ path: 'string', 'count?': 'number', limit: 'number = 10' }),
  execute(input) {
    is<Equal<(typeof input)['limit'], number>>()
    return input.path
  },
})
is<Equal<ToolInput<typeof ark>, { path: string; count?: number; limit?: number }>>()
is<Equal<ToolOutput<typeof ark>, string>>()

// TypeBox 0.34 and 1.x
export const typeBox0 = defineTool({
  name: 'typebox0',
  description: '',
  input: TypeBox0.Object({ path: TypeBox0.String(), count: TypeBox0.Optional(TypeBox0.Number()) }),
  execute: (input) => input.count ?? input.path.length,
})
is<Equal<ToolInput<typeof typeBox0>, { count?: number; path: string }>>()
is<Equal<ToolOutput<typeof typeBox0>, number>>()

export const typeBox1 = defineTool({
  name: 'typebox1',
  description: '',
  input: TypeBox1.Object({
    path: TypeBox1.String(),
    count: TypeBox1.Optional(TypeBox1.Number()),
    mode: TypeBox1.Union([TypeBox1.Literal('fast'), TypeBox1.Literal('slow')]),
    tags: TypeBox1.Array(TypeBox1.Object({ name: TypeBox1.String() })),
  }),
  output: TypeBox1.Object({ ok: TypeBox1.Boolean() }),
  execute: () => ({ ok: true }),
})
is<
  Equal<ToolInput<typeof typeBox1>, { path: string; mode: 'fast' | 'slow'; tags: { name: string }[]; count?: number }>
>()
is<Equal<ToolOutput<typeof typeBox1>, { ok: boolean }>>()

// plain JSON Schema, without `as const`; defaults as with zod
export const head = defineTool({
  name: 'core/http.head',
  description: '',
  input: {
    type: 'object',
    properties: {
      url: { type: 'string' },
      timeoutMs: { type: 'integer', default: 1000 },
      mode: { enum: ['fast', 'slow'] },
      version: { const: 2 },
      body: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      headers: {
        type: 'array',
        items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      },
      anything: {},
    },
    required: ['url', 'body'],
    additionalProperties: false,
  },
  capabilities: ['network'],
  targets: ({ url }) => ({ network: url }),
  async execute(input, ctx) {
    is<Equal<(typeof input)['timeoutMs'], number>>()
    is<Equal<(typeof input)['mode'], 'fast' | 'slow' | undefined>>()
    is<Equal<(typeof input)['anything'], unknown>>()
    // @ts-expect-error no files handle with network alone
    ctx.fs
    const { status } = await ctx.fetch(input.url)
    return status
  },
})
is<
  Equal<
    ToolInput<typeof head>,
    {
      url: string
      body: string | null
      timeoutMs?: number
      mode?: 'fast' | 'slow'
      version?: 2
      headers?: { name: string }[]
      anything?: unknown
    }
  >
>()
is<Equal<ToolOutput<typeof head>, number>>()

// a schema of unknown shape gives unknown, never any
export const dynamic = defineTool({
  name: 'dynamic',
  description: '',
  input: {} as { type?: unknown },
  execute: (input) => input,
})
is<Equal<ToolInput<typeof dynamic>, unknown>>()
isNot<Equal<ToolInput<typeof dynamic>, never>>()

// a tool without capabilities is pure: no handles at all
defineTool({
  name: 'pure',
  description: '',
  input: z.object({}),
  execute(_, ctx) {
    // @ts-expect-error nothing was declared
    ctx.fs
    // @ts-expect-error nothing was declared
    ctx.fetch
    return ctx.callId
  },
})

// reading and writing are two capabilities
defineTool({
  name: 'write-only',
  description: '',
  input: z.object({ path: z.string() }),
  capabilities: ['write:fs'],
  // @ts-expect-error read:fs is not declared
  execute: async ({ path }, ctx) => ctx.fs.readText(path),
})

defineTool({
  name: 'write',
  description: '',
  input: z.object({ path: z.string() }),
  capabilities: ['read:fs', 'write:fs'],
  execute: async ({ path }, ctx) => ctx.fs.writeText(path, await ctx.fs.readText(path)),
})

defineTool({
  name: 'wrong-output',
  description: '',
  input: z.object({}),
  output: z.object({ n: z.number() }),
  // @ts-expect-error the output schema says number
  execute: () => ({ n: 'no' }),
})

defineTool({
  name: 'wrong-json-output',
  description: '',
  input: z.object({}),
  output: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  // @ts-expect-error the output schema says number
  execute: async () => ({ n: 'no' }),
})

defineTool({
  name: 'wrong-target',
  description: '',
  input: z.object({ path: z.string() }),
  capabilities: ['read:fs'],
  // @ts-expect-error network was not declared
  targets: ({ path }) => ({ network: path }),
  execute: () => 1,
})

defineTool({
  name: 'wrong-capability',
  description: '',
  input: z.object({}),
  // @ts-expect-error this capability does not exist
  capabilities: ['read:everything'],
  execute: () => 1,
})

defineTool({
  name: 'wrong-example',
  description: '',
  input: z.object({ path: z.string() }),
  // @ts-expect-error an example must be a valid input
  examples: [{ input: { path: 1 } }],
  execute: () => 1,
})
