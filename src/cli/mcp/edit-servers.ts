import { extname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { type Document, isMap, parseDocument, stringify } from 'yaml'
import { isPlainObject } from '../../lib/index.ts'
import { UsageError } from '../usage-error.ts'
import { editJson } from './edit-json.ts'

/** The key that holds the servers, and what is to become of one: its entry, or undefined to take it out. */
export interface ServerChange {
  /** `mcpServers`, or `servers` in VS Code. */
  readonly key: string
  readonly name: string
  readonly entry: unknown
}

/** The text of a config with one server changed; comments and everything else stay as they are. */
export function changeServer(file: string, text: string, change: ServerChange): string {
  const { key, name, entry } = change
  switch (extname(file)) {
    case '.yaml':
    case '.yml': {
      const document = readYaml(file, text)
      serversOf(file, document.toJS(), key)
      return editYaml(document, text, key, name, entry)
    }
    case '.json':
    case '.jsonc':
      serversOf(file, parseJson(file, text), key)
      return editJson(text, [key, name], entry)
    default:
      throw new UsageError(
        `${file} cannot be changed from here.`,
        `Write it yourself: ${JSON.stringify({ [key]: { [name]: entry } })}`,
      )
  }
}

/** The servers that a config names. */
export function serversIn(file: string, text: string, key: string): Readonly<Record<string, unknown>> {
  const isYaml = /\.ya?ml$/.test(file)
  return serversOf(file, isYaml ? readYaml(file, text).toJS() : parseJson(file, text), key)
}

function serversOf(file: string, whole: unknown, key: string): Readonly<Record<string, unknown>> {
  const servers = isPlainObject(whole) && Object.hasOwn(whole, key) ? whole[key] : undefined
  if (isPlainObject(servers)) return servers
  if (servers === undefined || servers === null) return {}
  const kind = Array.isArray(servers) ? 'a list' : `a ${typeof servers}`
  throw new UsageError(
    `${key} in ${file} is ${kind}, no object.`,
    `It holds servers by their names: { "${key}": { "NAME": { "command": "…" } } }. Mend the file first.`,
  )
}

function readYaml(file: string, text: string) {
  const document = parseDocument(text)
  const [problem] = document.errors
  if (problem) throw new UsageError(`${file} cannot be read: ${problem.message}`, 'Mend the file first.')
  const whole: unknown = document.toJS()
  if (whole === null || isPlainObject(whole)) return document
  throw new UsageError(`${file} is no mapping of keys.`, 'Mend the file first; nothing was changed.')
}

function parseJson(file: string, text: string): unknown {
  if (text.trim() === '') return {}
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [problem] = errors
  if (!problem && isPlainObject(value)) return value
  throw new UsageError(
    problem ? `${file}${placeOf(text, problem)} is no JSON object: ${wordsOf(problem)}.` : `${file} is no JSON object.`,
    'Mend the file first; nothing was changed.',
  )
}

/** `:3:14`. */
function placeOf(text: string, { offset }: ParseError): string {
  const lines = text.slice(0, offset).split('\n')
  return `:${lines.length}:${lines.at(-1)!.length + 1}`
}

/** `CommaExpected` is `comma expected`. */
function wordsOf({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
}

/** The text of a YAML file with one entry below a key changed, or without it; comments and order stay. */
function editYaml(document: Document.Parsed, text: string, key: string, name: string, value: unknown): string {
  const inserted = value === undefined ? undefined : insert(document, text, key, name, value)
  if (inserted !== undefined) return inserted
  if (value === undefined) document.deleteIn([key, name])
  else document.setIn([key, name], document.createNode(value))
  const left = document.getIn([key])
  if (value === undefined && isMap(left) && left.items.length === 0) document.delete(key)
  return document.toString({ lineWidth: 0 })
}

/** New lines between those that are there: nothing else is laid out anew. Nothing where that does not come out right. */
function insert(
  document: Document.Parsed,
  text: string,
  key: string,
  name: string,
  value: unknown,
): string | undefined {
  const whole: unknown = document.toJS()
  const servers = document.getIn([key])
  if (isMap(document.contents) && document.contents.flow) return undefined
  if (document.contents !== null && !isMap(document.contents)) return undefined
  const added = place(text, servers, { key, name, value })
  if (added === undefined) return undefined
  const present = isMap(servers) ? (servers.toJS(document) as Record<string, unknown>) : {}
  const wanted = { ...(whole as object), [key]: { ...present, [name]: value } }
  const result = parseDocument(added)
  return result.errors.length === 0 && isDeepStrictEqual(result.toJS(), wanted) ? added : undefined
}

function place(
  text: string,
  servers: unknown,
  { key, name, value }: { readonly key: string; readonly name: string; readonly value: unknown },
): string | undefined {
  const start = text === '' || text.endsWith('\n') ? text : `${text}\n`
  if (servers === undefined) return start + stringify({ [key]: { [name]: value } }, { lineWidth: 0 })
  if (!isMap(servers) || servers.flow || servers.has(name)) return undefined
  const last = servers.items.at(-1) as { readonly value?: { readonly range?: readonly number[] | null } } | undefined
  const first = servers.range?.[0]
  const end = last?.value?.range?.[1]
  if (first === undefined || end === undefined) return undefined
  const indent = ' '.repeat(first - (start.lastIndexOf('\n', first - 1) + 1))
  const line = start.indexOf('\n', end - 1) + 1
  const at = start[end - 1] === '\n' ? end : line
  const lines = stringify({ [name]: value }, { lineWidth: 0 })
    .trimEnd()
    .split('\n')
  return `${start.slice(0, at)}${lines.map((each) => `${indent}${each}\n`).join('')}${start.slice(at)}`
}
