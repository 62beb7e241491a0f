import type { AnyTool, Dialect, ToolKind } from '@tool-hub/core'

/** A built-in tool without its code and its schemas. */
export interface CatalogueEntry {
  /** The fields of its definition that are data. */
  readonly tool: Pick<AnyTool, 'name' | 'title' | 'description' | 'capabilities' | 'tags'>
  /** The names of its functions. */
  readonly functions: readonly string[]
  readonly dialects: Readonly<Record<string, CatalogueDialect>>
  /** Its own name, the one on the wire, and those of its dialects. */
  readonly names: readonly string[]
  readonly kind: ToolKind
  readonly group: string
  readonly groups: readonly string[]
}

/** A dialect without its code and its schema. */
interface CatalogueDialect {
  readonly fields: Dialect
  readonly functions: readonly string[]
  /** Whether it has a schema of its own. */
  readonly hasSchema: boolean
}

/** The JSON Schemas of a tool. */
export interface ToolSchemas {
  readonly input: Record<string, unknown>
  readonly output: Record<string, unknown>
  /** The schemas of dialects that have their own. */
  readonly dialects: Readonly<Record<string, Record<string, unknown>>>
}
