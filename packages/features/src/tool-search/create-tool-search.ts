import {
  didYouMean,
  type Feature,
  type FeatureHost,
  messageOf,
  type ToolCard,
  ToolError,
  throwIfAborted,
} from '@tool-hub/core'
import { likeness, mergeRanks, toUnitVector, untilAborted } from '@tool-hub/core/lib'
import { ToolIndex } from './tool-index.ts'
import { serverOf } from './tool-words.ts'
import type {
  ToolDescriptions,
  ToolMatch,
  ToolMatches,
  ToolQuery,
  ToolSearchHandle,
  ToolSearchOptions,
  ToolSearchService,
} from './types.ts'

type Search = (query: string, options: ToolQuery & { readonly tools: readonly ToolCard[] }) => Promise<ToolMatches>

const DEFAULT_LIMIT = 5
const MAX_LIMIT = 50
const MAX_SUMMARY_CHARS = 120
const MAX_NAMES = 20
/** How many tools of each list are merged when tools are found by words and by meaning. */
const MERGED = 50
/** Texts that one call of `embed` gets. */
const TEXTS_PER_CALL = 100
const DEFAULT_TIMEOUT_MS = 10_000

/** The search for tools of one hub. */
export function createToolSearch(
  options: ToolSearchOptions,
  host: FeatureHost,
): Feature<ToolSearchHandle, ToolSearchService> {
  const search = createSearch(options, host)
  return {
    handle: (call) => ({
      async search(query, wish) {
        const found = await search(query, { ...wish, tools: call.tools(), signal: call.signal() })
        if (found.notice !== undefined) call.notice(found.notice)
        return found
      },
      describe: async (names) => describeTools(names, call.tools()),
    }),
    service: {
      search: (query, wish = {}) => search(query, { ...wish, tools: wish.tools ?? host.tools() }),
      describe: async (names, { tools = host.tools() } = {}) => describeTools(names, tools),
    },
    async close() {},
  }
}

/** The tools of one caller, prepared for searches. */
interface Prepared {
  readonly tools: readonly ToolCard[]
  readonly index: ToolIndex
  /** The server of each tool; `undefined` for a tool that only finds others. */
  readonly servers: readonly (string | undefined)[]
  readonly allServers: ReadonlySet<string>
}

async function prepare(tools: readonly ToolCard[]): Promise<Prepared> {
  const servers = tools.map(({ tool, finds }) => (finds === undefined ? serverOf(tool) : undefined))
  const allServers = new Set(servers.filter((server) => server !== undefined))
  return { tools, index: await ToolIndex.of(tools), servers, allServers }
}

function createSearch(options: ToolSearchOptions, host: FeatureHost): Search {
  // A list of tools is the same object until a tool changes, and is then collected with its index.
  const known = new WeakMap<readonly ToolCard[], Promise<Prepared>>()
  const vectors: Embedding['vectors'] = new WeakMap()
  return async (query, { tools, server, limit = DEFAULT_LIMIT, signal = NEVER_ABORTED }) => {
    throwIfAborted(signal)
    const preparing = known.get(tools) ?? prepare(tools)
    known.set(tools, preparing)
    const prepared = await preparing
    const isAsked = askedTools(prepared, server)
    const wanted = Math.max(1, Math.min(limit, MAX_LIMIT))
    const byWords = prepared.index.search(query, isAsked, options.embed ? MERGED : wanted)
    if (!options.embed) return toMatches(prepared, byWords)
    const asked = [...tools.keys()].filter(isAsked)
    const near = await nearest(query, prepared, asked, { ...options, host, vectors, signal })
    if ('notice' in near) return { ...toMatches(prepared, byWords.slice(0, wanted)), notice: near.notice }
    const merged = mergeRanks([byWords, near.places], (place) => place)
    return toMatches(
      prepared,
      merged.slice(0, wanted).map(([place]) => place),
    )
  }
}

const NEVER_ABORTED = new AbortController().signal

/** The tools that a search looks at: no tool that only finds others. Throws NOT_FOUND for a server that has none. */
function askedTools({ servers, allServers }: Prepared, asked: string | undefined): (place: number) => boolean {
  if (asked === undefined) return (place) => servers[place] !== undefined
  const wanted = asked.trim().toLowerCase()
  const named = new Set(
    [...allServers].filter((server) =>
      [server, server.slice(server.indexOf('/') + 1)].some((name) => name.toLowerCase() === wanted),
    ),
  )
  if (named.size === 0) {
    const message = `No visible tool belongs to the server ${JSON.stringify(asked.slice(0, 128))}.`
    throw new ToolError('NOT_FOUND', message, { hint: didYouMean(asked, allServers) || 'Search without server.' })
  }
  return (place) => named.has(servers[place] ?? '')
}

function toMatches({ tools, servers, allServers }: Prepared, places: readonly number[]): ToolMatches {
  const shown = new Set(places.map((place) => servers[place]))
  const otherServers = [...allServers].filter((server) => !shown.has(server))
  return { matches: places.map((place) => toMatch(tools[place]!)), otherServers }
}

function toMatch({ name, tool, description, parameters }: ToolCard): ToolMatch {
  const { properties, required } = parameters
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  const sentence = description.split(/(?<=[.!?。！？])\s|\n/, 1)[0]!.trim()
  const summary = sentence.length > MAX_SUMMARY_CHARS ? `${sentence.slice(0, MAX_SUMMARY_CHARS - 1)}…` : sentence
  return { name, tool, summary, arguments: names.map((each) => (needed.includes(each) ? each : `${each}?`)) }
}

/** Finds tools by canonical name and by the name that models call; a name that no visible tool has is missing. */
function describeTools(names: readonly string[], tools: readonly ToolCard[]): ToolDescriptions {
  const byName = new Map([
    ...tools.map((card) => [card.tool, card] as const),
    ...tools.map((card) => [card.name, card] as const),
  ])
  const asked = [...new Set(names)].slice(0, MAX_NAMES)
  const found = new Set(asked.flatMap((name) => byName.get(name) ?? []))
  const missing = asked.filter((name) => !byName.has(name))
  return {
    tools: [...found].map(({ name, tool, description, parameters, output }) => {
      return { name, tool, description, parameters, ...(output && { output }) }
    }),
    missing: missing.map((name) => {
      return { name, hint: didYouMean(name, byName.keys()) || 'Search for it by what it does.' }
    }),
  }
}

interface Embedding extends Pick<ToolSearchOptions, 'embed' | 'timeoutMs'> {
  readonly host: Pick<FeatureHost, 'clock'>
  readonly vectors: WeakMap<object, { readonly text: string; readonly vector: Float32Array }>
  readonly signal: AbortSignal
}

/** The places of tools by meaning, nearest first; a notice if the embedding fails. Each tool is embedded once. */
async function nearest(
  query: string,
  { tools }: Prepared,
  asked: readonly number[],
  embedding: Embedding,
): Promise<{ readonly places: readonly number[] } | { readonly notice: string }> {
  const { vectors, signal } = embedding
  try {
    const texts = asked.map((place) => {
      const { tool, description, parameters } = tools[place]!
      return { place, key: parameters, text: `${tool}\n${description}` }
    })
    const missing = texts.filter(({ key, text }) => vectors.get(key)?.text !== text)
    for (let from = 0; from < missing.length; from += TEXTS_PER_CALL) {
      const batch = missing.slice(from, from + TEXTS_PER_CALL)
      const made = await embedTexts(
        batch.map(({ text }) => text),
        embedding,
      )
      for (const [at, { key, text }] of batch.entries()) vectors.set(key, { text, vector: made[at]! })
    }
    const [wanted] = await embedTexts([query], embedding)
    const scored = texts.map(({ place, key }) => ({ place, score: likeness(wanted!, vectors.get(key)!.vector) }))
    const best = scored.sort((one, other) => other.score - one.score).slice(0, MERGED)
    return { places: best.map(({ place }) => place) }
  } catch (error) {
    throwIfAborted(signal)
    return { notice: `The embedding failed, so tools are compared by words only: ${messageOf(error).slice(0, 200)}` }
  }
}

async function embedTexts(texts: readonly string[], embedding: Embedding): Promise<readonly Float32Array[]> {
  const { embed, timeoutMs = DEFAULT_TIMEOUT_MS, host, signal } = embedding
  const late = new AbortController()
  const stop = host.clock.after(timeoutMs, () => late.abort(new ToolError('TIMEOUT', `it took over ${timeoutMs} ms`)))
  try {
    const both = AbortSignal.any([signal, late.signal])
    const made = await untilAborted(Promise.resolve(embed!(texts, both)), both)
    return texts.map((_, place) => toUnitVector(made[place]))
  } finally {
    stop()
  }
}
