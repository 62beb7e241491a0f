import { type AnyTool, didYouMean, ToolError } from '../../core/index.ts'
import type { RegisteredDialect, RegisteredTool } from './registered-tool.ts'
import { cardOf, type ToolCard, type WireTool, wireForm } from './tool-card.ts'

/** A tool found by one of its names, and the dialect that name belongs to. */
export interface FoundTool {
  readonly entry: RegisteredTool
  readonly dialect: RegisteredDialect | undefined
}

interface Choice {
  readonly dialect?: string
  readonly only?: (entry: RegisteredTool) => boolean
}

/** Tools by their names, to look at. */
export abstract class ToolTable {
  /** Another one after every change. */
  abstract get version(): number

  /** By canonical, wire or dialect name. */
  abstract find(name: string): FoundTool | undefined

  /** All of them, sorted by name, so that a listing is byte-stable. */
  abstract list(): RegisteredTool[]

  /** Every name of every tool. */
  abstract names(): Iterable<string>

  /** Hears of every change. Returns how to stop. */
  abstract onChange(listener: () => void): () => void

  /** The definition (S2's Get). */
  get(name: string): AnyTool | undefined {
    return this.find(name)?.entry.tool
  }

  /** The wire form for a model (S2's ListForLLM), one name a tool: the dialect's where the tool has that dialect. */
  listForLLM({ dialect, only = () => true }: Choice = {}): WireTool[] {
    return this.list()
      .filter(only)
      .map((entry) => wireForm(entry, dialect))
  }

  /** The same with all that a door to the outside may show. */
  cards({ dialect, only = () => true }: Choice = {}): ToolCard[] {
    return this.list()
      .filter(only)
      .map((entry) => cardOf(entry, dialect))
  }

  notFound(name: string): ToolError {
    const names = this.list().flatMap(({ tool, dialects }) => [tool.name, ...dialects.keys()])
    const hint = didYouMean(name, names) || 'List the tools to see their names.'
    return new ToolError('TOOL_NOT_FOUND', `There is no tool ${JSON.stringify(name.slice(0, 128))}.`, { hint })
  }
}

/** Tools of different names, in the order of these. */
export function sortByName(entries: Iterable<RegisteredTool>): RegisteredTool[] {
  const named = new Map([...entries].map((entry) => [entry.tool.name, entry]))
  return [...named.keys()].sort().map((name) => named.get(name)!)
}
