import { isDeepStrictEqual } from 'node:util'
import { type Document, isMap, parseDocument, stringify } from 'yaml'

/** The text of a YAML file with one entry below a key changed, or without it; comments and order stay. */
export function editYaml(document: Document.Parsed, text: string, key: string, name: string, value: unknown): string {
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
