import { isPlainObject } from '../../lib/index.ts'

/** A part of a document that was read from somewhere. */
export type JsonRecord = Readonly<Record<string, unknown>>

/** What an object of a document has under a key of its own; keys come from outside, and `constructor` is one too. */
export function ownValue(object: unknown, key: string): unknown {
  return isPlainObject(object) && Object.hasOwn(object, key) ? object[key] : undefined
}

/** The same, when it is an object; an empty one otherwise. */
export function ownObject(object: unknown, key: string): JsonRecord {
  const value = ownValue(object, key)
  return isPlainObject(value) ? value : {}
}

/** The same, when it is a list; an empty one otherwise. */
export function ownList(object: unknown, key: string): readonly unknown[] {
  const value = ownValue(object, key)
  return Array.isArray(value) ? value : []
}

/** The same, when it is a text. */
export function ownText(object: unknown, key: string): string | undefined {
  const value = ownValue(object, key)
  return typeof value === 'string' ? value : undefined
}
