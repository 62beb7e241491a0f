import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type SchemaNode, toJsonSchema } from './check-config.ts'
import { configSchema } from './schema.ts'
import { configTemplate } from './template.ts'

const published = toJsonSchema(configSchema)

describe('configSchema', () => {
  it('says what every key means', () => {
    const silent = [...keysOf(published)].filter(([, node]) => !node.description).map(([path]) => path)
    expect(silent).toEqual([])
  })

  it('is closed everywhere, so that a typo never goes unseen', () => {
    const open = [...objectsOf(published)].filter((node) => node.properties && node.additionalProperties === undefined)
    expect(open).toEqual([])
  })

  it('agrees, as JSON Schema, with what is accepted', () => {
    const validate = new Ajv2020({ allErrors: true, validateFormats: false }).compile(published)
    const accepted = [
      parse(configTemplate()),
      {},
      {
        tools: {
          default: 'ask',
          read_file: { action: 'allow', constraints: { max_size: '10MB', denied_paths: ['**/*.pem'] } },
        },
      },
      { policy: './policy.yaml', runs: false, plugins: ['./a.mjs', ['b', { c: 1 }]] },
      { limits: { timeout: 250, rate: '10/s', tools: { exec: { rate: { perSecond: 1 }, time: '5min' } } } },
    ]
    for (const config of accepted)
      expect([configSchema.safeParse(config).success, validate(config)]).toEqual([true, true])
    const refused = [
      { limit: {} },
      { version: 2 },
      { tools: { profile: 'all' } },
      { tools: { read_file: { action: 'maybe' } } },
      { policy: [{ on: 'x' }] },
      { policy: [{ allow: 'a', deny: 'b' }] },
      { limits: { timeout: '60x' } },
      { limits: { rate: '10' } },
      { runs: true },
      { plugins: [['a']] },
    ]
    for (const config of refused)
      expect([configSchema.safeParse(config).success, validate(config), config]).toEqual([false, false, config])
  })
})

function* objectsOf(node: SchemaNode): Generator<SchemaNode> {
  yield node
  const inner = [...Object.values(node.properties ?? {}), ...(node.anyOf ?? []), ...(node.prefixItems ?? [])]
  if (node.items) inner.push(node.items)
  if (typeof node.additionalProperties === 'object') inner.push(node.additionalProperties)
  for (const child of inner) yield* objectsOf(child)
}

function* keysOf(root: SchemaNode): Generator<[string, SchemaNode]> {
  for (const node of objectsOf(root)) yield* Object.entries(node.properties ?? {})
}
