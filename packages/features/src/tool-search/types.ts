import type { ToolCard } from '@tool-hub/core'

/** When models are shown a search for tools instead of all tools. */
export const DISCOVERY_MODES = ['auto', 'on', 'off'] as const

/** The options of the search for tools. */
export interface ToolSearchOptions {
  /**
   * Whether models are shown a search instead of all tools. `auto`: if there are more than 30 tools besides the built-in
   * ones, or if their schemas have more than 10,000 tokens. Default: `auto`.
   */
  readonly discovery?: (typeof DISCOVERY_MODES)[number]
  /**
   * Tools that are always shown, besides those that the profile names: names and groups, as in `visibility.allow`.
   * Default: none.
   */
  readonly pin?: readonly string[]
  /**
   * Turns texts into vectors, so that tools are also found by meaning: the function that `memory.embed` takes. Returns one
   * vector for each text, all of the same length. Default: tools are found by words.
   */
  readonly embed?: (
    texts: readonly string[],
    signal: AbortSignal,
  ) => Promise<readonly (readonly number[] | Float32Array)[]>
  /** Timeout of one call of `embed`; then tools are found by words. Default: 10 s. */
  readonly timeoutMs?: number
}

/** Which tools are searched. */
export interface ToolSearchScope {
  /** The tools that the caller sees. Default: those that the owner's agents see. */
  readonly tools?: readonly ToolCard[]
}

/** A search for tools. */
export interface ToolQuery extends ToolSearchScope {
  /** Only tools of this server: `mcp/github`, or its last part `github`. Default: all servers. */
  readonly server?: string
  /** Maximum number of tools. Default: 5; at most 50. */
  readonly limit?: number
  /** Stops the search. Default: nothing does. */
  readonly signal?: AbortSignal
}

/** A tool that was found. */
export interface ToolMatch {
  /** The name that models call. */
  readonly name: string
  /** Canonical name. */
  readonly tool: string
  /** The first sentence of its description. */
  readonly summary: string
  /** The names of its arguments; optional ones end in `?`. */
  readonly arguments: readonly string[]
}

/** What a search found. */
export interface ToolMatches {
  /** The tools, best first. */
  readonly matches: readonly ToolMatch[]
  /** The servers that have tools, but none among the matches. */
  readonly otherServers: readonly string[]
  /** What went wrong with the embedding, so that tools were found by words only; absent if nothing did. */
  readonly notice?: string
}

/** A tool with its schemas. */
export interface ToolDescription {
  /** The name that models call. */
  readonly name: string
  /** Canonical name. */
  readonly tool: string
  /** When to use it. */
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** JSON Schema of the result; absent if the tool declares none. */
  readonly output?: Readonly<Record<string, unknown>>
}

/** What is known about tools by name. */
export interface ToolDescriptions {
  /** The tools in the order of the names. */
  readonly tools: readonly ToolDescription[]
  /** Names that no visible tool has, each with what to do about it. */
  readonly missing: readonly { readonly name: string; readonly hint: string }[]
}

/** What a tool gets as `ctx.toolSearch`: only the tools that its caller sees. */
export interface ToolSearchHandle {
  /** Finds tools by what they do. */
  search(query: string, options?: Omit<ToolQuery, 'tools' | 'signal'>): Promise<ToolMatches>
  /** Returns tools with their schemas, by any of their names. */
  describe(names: readonly string[]): Promise<ToolDescriptions>
}

/** What the owner of a hub gets as `hub.toolSearch`. */
export interface ToolSearchService {
  /** Finds tools by what they do. */
  search(query: string, options?: ToolQuery): Promise<ToolMatches>
  /** Returns tools with their schemas, by any of their names. */
  describe(names: readonly string[], scope?: ToolSearchScope): Promise<ToolDescriptions>
}
