import { dirname, extname, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { findConfig } from '@tool-hub/config'
import { isPlainObject } from '@tool-hub/core/lib'
import {
  applyEdits,
  findNodeAtLocation,
  modify,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { type Document, isMap, parseDocument, stringify } from 'yaml'
import { UsageError } from '../exit.ts'
import { type FileEdit, planEdit } from './file-edit.ts'

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
      serversOf(file, parseEditedJson(file, text), key)
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
  return serversOf(file, isYaml ? readYaml(file, text).toJS() : parseEditedJson(file, text), key)
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
  throw new UsageError(`${file} is not a mapping of keys.`, 'Fix the file first. Nothing was changed.')
}

/** The object in a JSON file that a person may edit: with comments, or empty. */
export function parseEditedJson(file: string, text: string): unknown {
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

/** How a file is laid out. */
interface Layout {
  readonly indent: string
  readonly eol: string
}

/**
 * The text of a JSON file with the value at a path changed, or without it. Nothing else is touched: a formatter would lay
 * out the neighbours anew.
 */
export function editJson(text: string, path: readonly string[], value: unknown): string {
  if (text.trim() === '') return value === undefined ? text : `${JSON.stringify(nested(path, value), undefined, 2)}\n`
  if (value === undefined) return applyEdits(text, modify(text, [...path], undefined, {}))
  const layout = layoutOf(text)
  const root = parseTree(text, [], { allowTrailingComma: true })!
  const present = findNodeAtLocation(root, [...path])
  if (present)
    return splice(text, present.offset, present.length, printValue(value, indentAt(text, present.offset), layout))
  // The innermost object that is there takes the rest of the path as one new key.
  const known = path.findIndex((_, index) => !findNodeAtLocation(root, path.slice(0, index + 1)))
  const parent = findNodeAtLocation(root, path.slice(0, known)) ?? root
  if (parent.type !== 'object') return editJson(text, path.slice(0, known), nested(path.slice(known), value))
  return insertEntry(text, parent, { key: path[known]!, value: nested(path.slice(known + 1), value) }, layout)
}

interface Entry {
  readonly key: string
  readonly value: unknown
}

function insertEntry(text: string, parent: Node, { key, value }: Entry, layout: Layout): string {
  const last = parent.children?.at(-1)
  const isOnOneLine = !text.slice(parent.offset, parent.offset + parent.length).includes('\n')
  const name = JSON.stringify(key)
  if (last && isOnOneLine) {
    const at = last.offset + last.length
    return splice(text, at, 0, `, ${name}: ${JSON.stringify(value)}`)
  }
  const outer = indentAt(text, parent.offset)
  const own = last ? indentAt(text, last.offset) : outer + layout.indent
  const line = `${layout.eol}${own}${name}: ${printValue(value, own, layout)}`
  if (last) return splice(text, last.offset + last.length, 0, `,${line}`)
  const inside = text.slice(parent.offset + 1, parent.offset + parent.length - 1)
  if (inside.trim() === '') return splice(text, parent.offset, parent.length, `{${line}${layout.eol}${outer}}`)
  // There is only a comment.
  return splice(text, parent.offset + 1, 0, line)
}

function printValue(value: unknown, indent: string, layout: Layout): string {
  return JSON.stringify(value, undefined, layout.indent).replaceAll('\n', `${layout.eol}${indent}`)
}

/** As the first line that is indented. */
function layoutOf(text: string): Layout {
  return { indent: /^([ \t]+)["}\]/]/m.exec(text)?.[1] ?? '  ', eol: text.includes('\r\n') ? '\r\n' : '\n' }
}

/** The blanks that the line of a place begins with. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return /^[ \t]*/.exec(line)![0]
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => Object.fromEntries([[key, inner]]), value)
}

function splice(text: string, offset: number, length: number, inserted: string): string {
  return text.slice(0, offset) + inserted + text.slice(offset + length)
}

/** The config that servers are added to. */
interface OwnConfig {
  readonly file: string
  /** The person named it, so it may be a link to anywhere. */
  readonly isNamed: boolean
}

/** The one that is found or named, else a new tool-hub.yaml here. */
export async function ownConfigFile({ config }: { readonly config?: string }): Promise<OwnConfig> {
  if (config !== undefined) return { file: resolve(config), isNamed: true }
  return { file: (await findConfig(process.cwd())) ?? resolve('tool-hub.yaml'), isNamed: false }
}

/** What our own config would be with servers changed. */
export function planServers({ file, isNamed }: OwnConfig, changes: readonly Omit<ServerChange, 'key'>[]): FileEdit {
  const change = (before: string) =>
    changes.reduce(
      (text, change) => changeServer(file, text, { ...change, key: 'mcpServers' }),
      before || (/\.ya?ml$/.test(file) ? 'version: 1\n' : ''),
    )
  return planEdit(file, change, { keepsOne: true, ...(!isNamed && { within: dirname(file) }) })
}
