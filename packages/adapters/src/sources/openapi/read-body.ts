import { ToolError } from '@tool-hub/core'
import type { SchemaConverter } from './convert-schema.ts'
import {
  dereference,
  type JsonRecord,
  type OpenApiDocument,
  ownObject,
  ownText,
  ownValue,
  shortText,
} from './read-document.ts'

/** The request body of an operation. */
export interface Body {
  readonly kind: 'json' | 'form' | 'text'
  /** As in the `content-type` header. */
  readonly mediaType: string
  readonly isRequired: boolean
  readonly schema: JsonRecord
  /** How the fields of a form are encoded. */
  readonly encoding: JsonRecord
}

const MAX_WORDS = 500
const KINDS: readonly (readonly [Body['kind'], RegExp])[] = [
  ['json', /^(application\/json|[^;]+\+json)\b/i],
  ['form', /^application\/x-www-form-urlencoded\b/i],
  ['text', /^text\/(?!\*)/i],
  ['json', /^(\*|application)\/\*/],
]

/**
 * Reads the request body of an operation in the first supported format. Returns `undefined` if it has none; throws if
 * no format is supported.
 */
export function readRequestBody(
  document: OpenApiDocument,
  operation: JsonRecord,
  converter: SchemaConverter,
): Body | undefined {
  const given = dereference(document, ownValue(operation, 'requestBody'))
  const content = ownObject(given, 'content')
  const mediaTypes = Object.keys(content)
  if (mediaTypes.length === 0) return undefined
  for (const [kind, pattern] of KINDS) {
    const mediaType = mediaTypes.find((each) => pattern.test(each))
    if (mediaType === undefined) continue
    const media = ownObject(content, mediaType)
    const words = ownText(given, 'description')
    const schema = kind === 'text' ? { type: 'string' } : converter.convert(ownValue(media, 'schema'))
    return {
      kind,
      mediaType: mediaType.includes('*') ? 'application/json' : mediaType,
      isRequired: ownValue(given, 'required') === true,
      schema: words ? { ...schema, description: shortText(words, MAX_WORDS) } : schema,
      encoding: ownObject(media, 'encoding'),
    }
  }
  const shown = shortText(mediaTypes.slice(0, 3).join(', '), 100)
  throw new ToolError('CONFIG_INVALID', `It sends ${shown}; only JSON, forms (urlencoded) and text can be sent.`)
}
