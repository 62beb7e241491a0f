import type { AnyTool } from '../../core/define.ts'
import type { RegisteredTool } from './registered-tool.ts'
import { type RefusedTool, Registry } from './registry.ts'
import { type FoundTool, sortByName, ToolTable } from './tool-table.ts'

/** The tools of a hub as one principal has them: everybody's, and those that it brought itself and nobody else sees. */
export class OwnTools extends ToolTable {
  readonly #shared: ToolTable
  readonly #own = new Registry({ newestWins: true })

  constructor(shared: ToolTable) {
    super()
    this.#shared = shared
  }

  /** What a source of the principal's brings; never under a name that everybody's tools have. */
  offer(source: object, tools: readonly AnyTool[]): RefusedTool[] {
    const [free, taken] = split(tools, (tool) => this.#shared.find(tool?.name) === undefined)
    const refused = taken.map(({ name }) => ({ name, why: `The name ${name} is taken by a tool of the hub.` }))
    return [...this.#own.offer(source, free), ...refused]
  }

  get version(): number {
    return this.#shared.version + this.#own.version
  }

  /** Should the hub get a tool of the same name later, that one is meant: nobody takes a name away from it. */
  find(name: string): FoundTool | undefined {
    return this.#shared.find(name) ?? this.#own.find(name)
  }

  list(): RegisteredTool[] {
    const own = this.#own.list().filter(({ tool }) => this.#shared.find(tool.name) === undefined)
    return sortByName([...this.#shared.list(), ...own])
  }

  *names(): Iterable<string> {
    yield* this.#shared.names()
    yield* this.#own.names()
  }

  onChange(listener: () => void): () => void {
    const stops = [this.#shared.onChange(listener), this.#own.onChange(listener)]
    return () => {
      for (const stop of stops) stop()
    }
  }
}

function split<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}
