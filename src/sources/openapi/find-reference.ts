import { ToolError } from '../../core/index.ts'
import { isPlainObject, pointerKeys, valueAt } from '../../lib/index.ts'
import { ownText } from './own-value.ts'
import type { OpenApiDocument } from './read-document.ts'

/** What a reference means, and the last reference on the way there. */
export interface FoundReference {
  readonly value: unknown
  readonly pointer: string
}

const MAX_HOPS = 20
const CIRCLE = `leads in a circle, or over more than ${MAX_HOPS} others`

/** What something in a document is: itself, or what its `$ref` leads to. Only inside the document, never over the network. */
export function dereference(document: OpenApiDocument, given: unknown): unknown {
  let value = given
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const reference = ownText(value, '$ref')
    if (reference === undefined) return value
    value = findReference(document, reference).value
  }
  throw broken(String(ownText(given, '$ref')), CIRCLE)
}

/** Follows a reference, and those it leads to. */
export function findReference({ root }: OpenApiDocument, reference: string): FoundReference {
  let pointer = reference
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const value = lookUp(root, pointer)
    const next = isPlainObject(value) && Object.keys(value).length === 1 ? ownText(value, '$ref') : undefined
    if (next === undefined) return { value, pointer }
    pointer = next
  }
  throw broken(reference, CIRCLE)
}

function lookUp(root: unknown, pointer: string): unknown {
  if (!pointer.startsWith('#/')) throw broken(pointer, 'is not inside the document, and nothing is fetched')
  const value = valueAt(root, pointerKeys(decode(pointer)))
  if (value === undefined) throw broken(pointer, 'is not in the document')
  return value
}

function decode(pointer: string): string {
  try {
    return decodeURIComponent(pointer)
  } catch {
    // A lone % is meant as it is.
    return pointer
  }
}

function broken(reference: string, why: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The reference ${JSON.stringify(reference.slice(0, 200))} ${why}.`)
}
