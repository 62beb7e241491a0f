import { ToolError } from '../../errors.ts'
import type { OpenApiOptions } from './open-api-options.ts'
import { type JsonObject, ownList, ownObject, ownText } from './own-value.ts'
import { shortText } from './short-text.ts'

const VARIABLE = /\{([^{}]+)\}/g

/** Where an operation is: what the owner says, or the first server of the operation, its path or the document. */
export function serverUrl(sources: readonly JsonObject[], server: OpenApiOptions['server']): string {
  if (typeof server === 'string') return checked(server)
  const given = sources.map((source) => ownList(source, 'servers')[0]).find((each) => each !== undefined)
  const url = ownText(given, 'url')
  if (url === undefined) throw nowhere('the document names no server')
  const variables = ownObject(given, 'variables')
  return checked(url.replaceAll(VARIABLE, (_, name: string) => variableValue(name, variables, server?.variables)))
}

function variableValue(name: string, variables: JsonObject, given: Readonly<Record<string, string>> = {}): string {
  const variable = ownObject(variables, name)
  const value = Object.hasOwn(given, name) ? given[name] : ownText(variable, 'default')
  if (value === undefined) throw nowhere(`its server has the variable ${shortText(name, 50)}, which has no value`)
  const allowed = ownList(variable, 'enum')
  if (allowed.length === 0 || allowed.includes(value)) return value
  throw nowhere(`${shortText(name, 50)} of its server is one of ${shortText(allowed.join(', '), 200)}`)
}

function checked(text: string): string {
  const shown = JSON.stringify(shortText(text, 200))
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) throw nowhere(`its server ${shown} is no complete URL`)
  const { username, password, search, hash } = new URL(text)
  if (username || password || search || hash || text.includes('?') || text.includes('#'))
    throw nowhere(`its server ${shown} has more than a host and a path`)
  return text.replace(/\/+$/, '')
}

function nowhere(why: string): ToolError {
  return new ToolError('CONFIG_INVALID', `It is not known where the API is: ${why}.`, {
    hint: 'Say it with the option server: "https://api.example.org/v1".',
  })
}
