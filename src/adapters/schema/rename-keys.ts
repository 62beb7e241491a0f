import type { JsonObject } from '../../schema/compiled-schema.ts'
import { propertiesOf, requiredOf } from './subschemas.ts'

const PLAIN_KEY = /^[A-Za-z0-9_.-]{1,64}$/

/** The same schema with argument names that Anthropic takes, and how to get the real ones back. */
export function renameKeys(schema: JsonObject): {
  readonly schema: JsonObject
  /** Real names by the new ones. */
  readonly names: ReadonlyMap<string, string>
} {
  const properties = propertiesOf(schema)
  const taken = new Set(Object.keys(properties))
  const renamed = new Map<string, string>()
  for (const key of Object.keys(properties)) {
    if (PLAIN_KEY.test(key)) continue
    const name = freeName(key, taken)
    taken.add(name)
    renamed.set(key, name)
  }
  if (renamed.size === 0) return { schema, names: renamed }
  const nameOf = (key: string) => renamed.get(key) ?? key
  const entries = Object.entries(properties).map(([key, property]) => [nameOf(key), property])
  return {
    schema: { ...schema, properties: Object.fromEntries(entries), required: requiredOf(schema).map(nameOf) },
    names: new Map([...renamed].map(([key, name]) => [name, key])),
  }
}

function freeName(key: string, taken: ReadonlySet<string>): string {
  const wanted = key.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 60) || '_'
  for (let count = 2, name = wanted; ; count++) {
    if (!taken.has(name)) return name
    name = `${wanted}_${count}`
  }
}
