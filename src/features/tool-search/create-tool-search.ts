import {
  didYouMean,
  type Feature,
  type FeatureHost,
  messageOf,
  type ToolCard,
  ToolError,
  throwIfAborted,
} from '../../core/index.ts'
import { likeness, mergeRanks, toUnitVector, untilAborted } from '../../lib/index.ts'
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

function createSearch(options: ToolSearchOptions, host: FeatureHost): Search {
  // A list of tools is the same object until a tool changes, and is then collected with its index.
  const indexes = new WeakMap<readonly ToolCard[], Promise<ToolIndex>>()
  const vectors = new WeakMap<object, { readonly text: string; readonly vector: Float32Array }>()
  return async (query, { tools, server, limit = DEFAULT_LIMIT, signal = new AbortController().signal }) => {
    throwIfAborted(signal)
    const indexing = indexes.get(tools) ?? ToolIndex.of(tools)
    indexes.set(tools, indexing)
    const index = await indexing
    const isAsked = askedTools(tools, server)
    const wanted = Math.max(1, Math.min(limit, MAX_LIMIT))
    const byWords = index.search(query, isAsked, options.embed ? MERGED : wanted)
    const near =
      options.embed &&
      (await nearest(
        query,
        tools.filter((_, place) => isAsked(place)),
        { ...options, host, vectors, signal },
      ))
    if (!near) return toMatches(tools, byWords)
    if ('notice' in near) return { ...toMatches(tools, byWords.slice(0, wanted)), notice: near.notice }
    const merged = mergeRanks([byWords.map((place) => tools[place]!), near.tools], ({ tool }) => tool)
    const places = new Map(tools.map(({ tool }, place) => [tool, place]))
    return toMatches(
      tools,
      merged.slice(0, wanted).map(([{ tool }]) => places.get(tool)!),
    )
  }
}

/** The tools that a search looks at: no tool that only finds others. Throws NOT_FOUND for a server that has none. */
function askedTools(tools: readonly ToolCard[], server: string | undefined): (place: number) => boolean {
  const isFound = (place: number) => tools[place]!.finds === undefined
  if (server === undefined) return isFound
  const wanted = server.trim().toLowerCase()
  const servers = new Set(tools.filter(({ finds }) => finds === undefined).map(({ tool }) => serverOf(tool)))
  const named = [...servers].filter((each) =>
    [each, each.slice(each.indexOf('/') + 1)].some((name) => name.toLowerCase() === wanted),
  )
  if (named.length === 0)
    throw new ToolError('NOT_FOUND', `No visible tool belongs to the server ${JSON.stringify(server.slice(0, 128))}.`, {
      hint: didYouMean(server, servers) || 'Search without server.',
    })
  return (place) => isFound(place) && named.includes(serverOf(tools[place]!.tool))
}

function toMatches(tools: readonly ToolCard[], places: readonly number[]): ToolMatches {
  const matches = places.map((place) => toMatch(tools[place]!))
  const shown = new Set(matches.map(({ tool }) => serverOf(tool)))
  const servers = new Set(tools.filter(({ finds }) => finds === undefined).map(({ tool }) => serverOf(tool)))
  return { matches, otherServers: [...servers].filter((server) => !shown.has(server)) }
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

/** The tools by meaning, nearest first; a notice if the embedding fails. Each tool is embedded once. */
async function nearest(
  query: string,
  tools: readonly ToolCard[],
  embedding: Embedding,
): Promise<{ readonly tools: readonly ToolCard[] } | { readonly notice: string }> {
  const { vectors, signal } = embedding
  try {
    const texts = tools.map((card) => ({ card, text: `${card.tool}\n${card.description}` }))
    const missing = texts.filter(({ card, text }) => vectors.get(card.parameters)?.text !== text)
    for (let from = 0; from < missing.length; from += TEXTS_PER_CALL) {
      const batch = missing.slice(from, from + TEXTS_PER_CALL)
      const made = await embedTexts(
        batch.map(({ text }) => text),
        embedding,
      )
      for (const [place, { card, text }] of batch.entries())
        vectors.set(card.parameters, { text, vector: made[place]! })
    }
    const [wanted] = await embedTexts([query], embedding)
    const scored = tools.map((card) => ({ card, score: likeness(wanted!, vectors.get(card.parameters)!.vector) }))
    const best = scored.sort((one, other) => other.score - one.score).slice(0, MERGED)
    return { tools: best.map(({ card }) => card) }
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
