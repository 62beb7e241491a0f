import { extname } from 'node:path'
import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser'
import { parseDocument } from 'yaml'
import { isPlainObject } from '../../value/is-plain-object.ts'
import { UsageError } from '../usage-error.ts'

/** The key that holds the servers, and what is to become of one: its entry, or undefined to take it out. */
export interface ServerChange {
  /** `mcpServers`, or `servers` in VS Code. */
  readonly key: string
  readonly name: string
  readonly entry: unknown
}

/** The text of a config with one server changed; comments and everything else stay as they are. */
export function changeServer(file: string, text: string, change: ServerChange): string {
  switch (extname(file)) {
    case '.yaml':
    case '.yml':
      return changeYaml(file, text, change)
    case '.json':
    case '.jsonc':
      return changeJson(file, text, change)
    default:
      throw new UsageError(
        `${file} cannot be changed from here.`,
        `Write it yourself: ${JSON.stringify({ [change.key]: { [change.name]: change.entry } })}`,
      )
  }
}

/** The servers that a config names. */
export function serversIn(file: string, text: string, key: string): Readonly<Record<string, unknown>> {
  const isYaml = /\.ya?ml$/.test(file)
  const whole: unknown = isYaml ? parseDocument(text).toJS() : parseJson(file, text)
  const servers = isPlainObject(whole) && Object.hasOwn(whole, key) ? whole[key] : {}
  if (isPlainObject(servers)) return servers
  throw new UsageError(`${key} in ${file} is no object.`, 'Mend the file first.')
}

function changeYaml(file: string, text: string, { key, name, entry }: ServerChange): string {
  const document = parseDocument(text)
  const [problem] = document.errors
  if (problem) throw new UsageError(`${file} cannot be read: ${problem.message}`, 'Mend the file first.')
  if (document.contents === null) return `${text}${key}:\n  ${JSON.stringify(name)}: ${JSON.stringify(entry)}\n`
  if (entry === undefined) document.deleteIn([key, name])
  else document.setIn([key, name], document.createNode(entry))
  const servers = document.getIn([key])
  if (entry === undefined && isEmptyMap(servers)) document.delete(key)
  return document.toString({ lineWidth: 120 })
}

function isEmptyMap(node: unknown): boolean {
  return typeof node === 'object' && node !== null && 'items' in node && (node.items as unknown[]).length === 0
}

function changeJson(file: string, text: string, { key, name, entry }: ServerChange): string {
  parseJson(file, text)
  const whole = text.trim() === '' ? '{}\n' : text
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: '\n' }
  return applyEdits(whole, modify(whole, [key, name], entry, { formattingOptions }))
}

function parseJson(file: string, text: string): unknown {
  if (text.trim() === '') return {}
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  if (errors.length === 0 && isPlainObject(value)) return value
  throw new UsageError(`${file} is no JSON object.`, 'Mend the file first; nothing was changed.')
}
