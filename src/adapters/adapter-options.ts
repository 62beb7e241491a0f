/** What every adapter takes. */
export interface AdapterOptions {
  /** The run whose records, budget and workspace the calls belong to. Default: the hub's own. */
  readonly run?: string
  /** The agent's conversation, for `limits.session` and for answers remembered for a session. Default: the run. */
  readonly session?: string
  /** Who calls; recorded. */
  readonly caller?: string
  /** Under which names and arguments the model sees the tools. Default: the profile's own. */
  readonly dialect?: string
  /** Only these tools, by canonical name or by the name that the model sees. */
  readonly names?: readonly string[]
}
