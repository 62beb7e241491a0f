import { COMMON_WORDS, foldLetters, isUnspaced, withoutPlural, wordPieces } from '@tool-hub/core/lib'

/** A tool as the index reads it. */
export interface IndexedTool {
  /** Canonical name: `mcp/github.create_issue`. */
  readonly tool: string
  /** When to use it. */
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Further words for its server, such as the title that an MCP server has. Default: none. */
  readonly tags?: readonly string[]
}

/** The fields of a tool, in the order of their weights in the index. */
export const FIELDS = ['name', 'server', 'description', 'arguments'] as const

/** How often each word occurs in each field of a tool, and how many words each field has. */
export interface ToolWords {
  readonly counts: ReadonlyMap<string, Float64Array>
  readonly lengths: Float64Array
}

/** Longer descriptions and schemas are read up to here. */
const MAX_FIELD_CHARS = 8_000
const MAX_SCHEMA_DEPTH = 6
const MAX_WORD_LENGTH = 40
const MAX_QUERY_WORDS = 32
const MAX_QUERY_CHARS = 2_000

/** The server of a tool: `mcp/github` for `mcp/github.create_issue`, `notes` for `notes.save`. */
export function serverOf(tool: string): string {
  const dot = tool.indexOf('.', tool.lastIndexOf('/') + 1)
  return dot === -1 ? tool : tool.slice(0, dot)
}

/** Counts the words of a tool. */
export function countWords({ tool, description, parameters, tags = [] }: IndexedTool): ToolWords {
  const server = serverOf(tool)
  const name = server === tool ? tool : tool.slice(server.length + 1)
  const texts: string[] = []
  collectArguments(parameters, texts, 0, { left: MAX_FIELD_CHARS })
  // `mcp/` and `core/` begin thousands of names, and say nothing about any of them.
  const owner = server === tool ? '' : server.slice(server.indexOf('/') + 1)
  const counts = new Map<string, Float64Array>()
  const [inName, inServer, inDescription, inArguments] = [
    name,
    [owner, ...tags].join('\n'),
    description,
    texts.join('\n'),
  ].map((text) => Array.from(wordsOf(text.slice(0, MAX_FIELD_CHARS)), stem))
  // The name of a server and its title often have the same words.
  const fields = [inName!, [...new Set(inServer)], inDescription!, inArguments!]
  for (const [field, words] of fields.entries()) {
    for (const word of words) {
      const own = counts.get(word) ?? new Float64Array(FIELDS.length)
      own[field]!++
      counts.set(word, own)
    }
  }
  return { counts, lengths: Float64Array.from(fields, ({ length }) => length) }
}

/**
 * The words of a query, and the neighbours in it written as one word, since names are spelt both ways: `mind map` and
 * `mindmap`. Stop words count only if there are no others.
 */
export function queryTerms(query: string): { readonly words: readonly string[]; readonly joined: readonly string[] } {
  const all = [...wordsOf(query.slice(0, MAX_QUERY_CHARS))]
  const telling = all.filter((word) => !COMMON_WORDS.has(word))
  const words = new Set((telling.length > 0 ? telling : all).map(stem))
  const joined = new Set(all.slice(1).map((word, place) => stem(`${all[place]}${word}`)))
  const most = (terms: ReadonlySet<string>) => [...terms].slice(0, MAX_QUERY_WORDS)
  return { words: most(words), joined: most(joined) }
}

/** The words of a text in order; `camelCase` and `snake_case` are two each, and scripts without spaces become pairs. */
function* wordsOf(text: string): Generator<string> {
  const split = text.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
  for (const piece of wordPieces(foldLetters(split))) {
    if (!isUnspaced(piece)) {
      yield piece.slice(0, MAX_WORD_LENGTH)
      continue
    }
    const characters = [...piece]
    if (characters.length === 1) yield piece
    for (let place = 1; place < characters.length; place++) yield `${characters[place - 1]}${characters[place]}`
  }
}

const VERB_ENDINGS = ['ing', 'ed']
const NOUN_ENDINGS = ['ation', 'ator', 'ion', 'or', 'er', 'ment', 'ly']

/** Removes common English endings, so that `draws`, `drawing` and `drawer` are one word. */
function stem(word: string): string {
  if (!/^[a-z]+$/.test(word)) return word
  let root = withoutPlural(word)
  const verb = VERB_ENDINGS.find((ending) => root.endsWith(ending) && /[aeiouy].*$/.test(root.slice(0, -ending.length)))
  if (verb !== undefined && root.length - verb.length >= 3) {
    root = root.slice(0, -verb.length)
    if (/([^aeioulsz])\1$/.test(root)) root = root.slice(0, -1)
  }
  root = withoutLastE(root)
  const noun = NOUN_ENDINGS.find((ending) => root.endsWith(ending) && root.length - ending.length >= 4)
  return noun === undefined ? root : withoutLastE(root.slice(0, -noun.length))
}

function withoutLastE(word: string): string {
  return word.length > 4 && word.endsWith('e') ? word.slice(0, -1) : word
}

/** Keywords whose values are schemas by name, lists of schemas, and schemas. */
const IN_MAPS = ['$defs', 'definitions']
const IN_LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const IN_SCHEMAS = ['items', 'additionalProperties']

/** Collects the names and descriptions of arguments, those within arguments included. */
function collectArguments(schema: unknown, texts: string[], depth: number, room: { left: number }): void {
  if (typeof schema !== 'object' || schema === null || depth > MAX_SCHEMA_DEPTH || room.left <= 0) return
  const add = (text: unknown) => {
    if (typeof text !== 'string' || room.left <= 0) return
    texts.push(text.slice(0, room.left))
    room.left -= text.length
  }
  const fields = schema as Readonly<Record<string, unknown>>
  const { properties } = fields
  for (const [name, value] of Object.entries(isObject(properties) ? properties : {})) {
    add(name)
    if (isObject(value)) add(value.description)
    collectArguments(value, texts, depth + 1, room)
  }
  for (const key of IN_SCHEMAS) collectArguments(fields[key], texts, depth + 1, room)
  for (const key of IN_LISTS) {
    const list = fields[key]
    for (const value of Array.isArray(list) ? list : []) collectArguments(value, texts, depth + 1, room)
  }
  for (const key of IN_MAPS) {
    const map = fields[key]
    for (const value of Object.values(isObject(map) ? map : {})) collectArguments(value, texts, depth + 1, room)
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
