import { parseYaml } from '../../core/document/index.ts'
import { messageOf, ToolError } from '../../core/index.ts'
import { isPlainObject } from '../../lib/index.ts'
import { type JsonRecord, ownText, ownValue } from './own-value.ts'

/** A document that says it is OpenAPI, and by which rules its schemas are written. */
export interface OpenApiDocument {
  readonly root: JsonRecord
  /** 3.0 has schemas of its own kind; from 3.1 on they are JSON Schema 2020-12. */
  readonly is30: boolean
}

const MAX_CHARS = 10_485_760

/** Reads an OpenAPI document, as an object or as the text of a JSON or YAML file. */
export function readOpenApiDocument(given: unknown): OpenApiDocument {
  const root = typeof given === 'string' ? parse(given) : given
  if (!isPlainObject(root)) throw unusable('it is no object')
  const version = ownText(root, 'openapi')
  if (version === undefined) {
    const isSwagger = ownValue(root, 'swagger') !== undefined
    throw unusable(isSwagger ? 'it is Swagger 2.0' : 'it does not say "openapi: 3…"')
  }
  if (!/^3\.\d/.test(version)) throw unusable(`its version is ${JSON.stringify(version.slice(0, 20))}`)
  return { root, is30: version.startsWith('3.0') }
}

function parse(text: string): unknown {
  if (text.length > MAX_CHARS) throw unusable(`it has ${text.length} characters, the limit is ${MAX_CHARS}`)
  if (/^\s*\{/.test(text)) return parseJson(text)
  return parseYaml(text, 'The OpenAPI document').value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unusable(`it is no JSON: ${messageOf(cause).slice(0, 200)}`, cause)
  }
}

function unusable(why: string, cause?: unknown): ToolError {
  return new ToolError('CONFIG_INVALID', `The OpenAPI document cannot be used: ${why}.`, {
    hint: 'Give a document of OpenAPI 3.0 or 3.1; one of Swagger 2.0 has to be converted first.',
    cause,
  })
}
