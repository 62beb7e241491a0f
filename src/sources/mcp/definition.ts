/** A JSON object of somebody else's. */
export type McpJsonObject = Readonly<Record<string, unknown>>

/** A tool as its server describes it, of usable types and bounded size; nothing of it is believed. */
export interface McpToolDefinition {
  /** The server's own name for it. */
  readonly tool: string
  readonly title: string | undefined
  readonly description: string
  /** As the server gave it, in need of repair. */
  readonly input: unknown
  readonly output: McpJsonObject | undefined
  readonly annotations: McpJsonObject
  /** Of all of it: equal for what is equal, whatever the order of its keys. */
  readonly hash: string
}

/** A tool of a server that a hub cannot offer. */
export interface LeftOut {
  /** The server's own name for it. */
  readonly tool: string
  /** What is wrong with its definition. */
  readonly why: string
}
