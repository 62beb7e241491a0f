import { extname } from 'node:path'
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { parseDocument } from 'yaml'
import { isPlainObject } from '../../value/is-plain-object.ts'
import { UsageError } from '../usage-error.ts'
import { editJson } from './edit-json.ts'
import { editYaml } from './edit-yaml.ts'

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
