import type { Capability } from './capability.ts'

/** A tool in the form that model providers expect. */
export interface WireTool {
  /** The name that models call: letters, digits, `_` and `-`, at most 64 characters. */
  readonly name: string
  /** When to use it, for the model. */
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Record<string, unknown>
}

/** A tool with everything that a transport may show, under the name of one dialect. */
export interface ToolCard extends WireTool {
  /** Canonical name. */
  readonly tool: string
  /** A short name for people; absent if the tool has none. */
  readonly title?: string
  /** The declared capabilities; empty for a pure tool. */
  readonly capabilities: readonly Capability[]
  /** The arguments that it says are texts for people. */
  readonly texts?: readonly string[]
  /** JSON Schema of `data`; absent if the tool declares none. */
  readonly output?: Record<string, unknown>
  /** Words for catalogues and for searches; absent if the tool has none. */
  readonly tags?: readonly string[]
  /**
   * `later`: a model is not shown the tool before it has searched for it. `never`: a model is not shown it at all. It can
   * be called in both cases. Absent: a model is shown the tool.
   */
  readonly shown?: 'later' | 'never'
  /** What a tool does with the others: it finds, describes or calls them. Absent: it is not about other tools. */
  readonly finds?: 'search' | 'describe' | 'call'
}

/** Which of the visible tools a model is shown. */
export interface ToolArrangement {
  /** Names and groups of tools that are always shown, as `tools.allow` has them, besides those of the profile. */
  readonly pin: readonly string[]
  /**
   * The tools that find others, by name. They find only what the caller sees, so a profile that does not name them hides
   * them only while no tool waits for a search.
   */
  readonly finders: readonly string[]
  /** Returns the cards in the same order, with `shown` and `finds`. */
  arrange(cards: readonly ToolCard[], isPinned: (tool: string) => boolean): readonly ToolCard[]
}
