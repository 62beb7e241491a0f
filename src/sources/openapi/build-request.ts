import { ToolError } from '../../core/index.ts'
import { isPlainObject } from '../../lib/index.ts'
import { type Parameter, serialiseHeader, serialisePairs, serialisePath } from './parameters.ts'
import type { Body } from './read-body.ts'
import { ownObject, ownText, ownValue } from './read-document.ts'
import type { Operation } from './read-operation.ts'

/** A request as the network guard accepts it. */
export interface ApiRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

type Input = Readonly<Record<string, unknown>>

/** Builds the request of a call: the same for policy, which judges its URL, and for the network. */
export function buildRequest(operation: Operation, input: Input): ApiRequest {
  const given = operation.parameters.filter(({ key }) => isThere(ownValue(input, key)))
  const at = (place: Parameter['place']) => given.filter((parameter) => parameter.place === place)
  const pairs = (parameter: Parameter) => serialisePairs(parameter, input[parameter.key])
  const query = at('query').flatMap(pairs)
  const cookies = at('cookie').flatMap(pairs)
  const headers = at('header').map((parameter) => [parameter.name.toLowerCase(), headerOf(parameter, input)] as const)
  const body = bodyOf(operation.body, ownValue(input, 'body'))
  return {
    url: `${operation.server}${fillPath(operation, input)}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    headers: {
      accept: 'application/json, */*;q=0.5',
      ...Object.fromEntries(headers),
      ...(cookies.length > 0 && { cookie: withoutReference('cookie', cookies.join('; ')) }),
      ...(body !== undefined && { 'content-type': operation.body!.mediaType }),
      ...operation.headers,
    },
    body,
  }
}

/** Every parameter stays one segment of the path: `..` or an empty segment would be another operation. */
function fillPath({ path, parameters }: Operation, input: Input): string {
  const inPath = new Map(parameters.filter(({ place }) => place === 'path').map((each) => [each.name, each]))
  const filled = path.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    const parameter = inPath.get(name)!
    const value = serialisePath(parameter, ownValue(input, parameter.key))
    if (value === '' || climbs(decodeURIComponent(value))) throw leavesPath(parameter.key)
    return value
  })
  if (climbs(filled)) throw leavesPath('')
  return filled
}

function climbs(path: string): boolean {
  return path.split(/[/\\]/).some((part) => /^(\.|%2e){1,2}$/i.test(part))
}

function headerOf(parameter: Parameter, input: Input): string {
  return withoutReference(parameter.key, serialiseHeader(parameter, input[parameter.key]))
}

/** Only the owner decides which secret is sent where. */
function withoutReference(key: string, value: string): string {
  if (!value.includes('${secret:')) return value
  throw new ToolError('INPUT_SCHEMA_INVALID', `${key} names a secret, which no argument of this tool may.`, {
    fix: { key, hint: 'Leave it out: the owner has set how this API knows who asks.' },
  })
}

function bodyOf(body: Body | undefined, value: unknown): string | undefined {
  if (!body || value === undefined) return undefined
  if (body.kind === 'json') return JSON.stringify(value)
  if (body.kind === 'text') return String(value)
  if (!isPlainObject(value)) return ''
  return Object.entries(value)
    .filter(([, field]) => isThere(field))
    .flatMap(([name, field]) => serialisePairs(fieldOf(name, field, body), field))
    .join('&')
}

/** A field of a form, as the document encodes it. Default: lists repeat its name, objects are JSON. */
function fieldOf(name: string, value: unknown, { encoding }: Body) {
  const own = ownObject(encoding, name)
  const style = ownText(own, 'style') === 'deepObject' ? 'deepObject' : 'form'
  const isJson = isPlainObject(value) && ownText(own, 'style') === undefined
  return { name, style, isJson, explode: ownValue(own, 'explode') !== false, allowReserved: false } as const
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null
}

function leavesPath(key: string): ToolError {
  const what = key === '' ? 'The arguments' : key
  return new ToolError(
    'INPUT_SCHEMA_INVALID',
    `${what} would lead to another place of the API than this operation's.`,
    {
      fix: { key, hint: 'Give a value that is not empty and has no part "." or "..".' },
    },
  )
}
