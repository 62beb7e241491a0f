import type { Governance } from '../../core/index.ts'
import type { AnySchema } from '../../core/schema/index.ts'

/** What another framework's form of a tool cannot say and policy needs, and what the hub shall take instead of what it says. */
// biome-ignore lint/suspicious/noExplicitAny: the arguments' type is the author's; they are validated by their schema
export interface FormGovernance<P = any> extends Governance<P> {
  /** Its name in the hub, where its own is no tool name, or taken. */
  readonly name?: string
  /** A short name for people. Default: the tool's own. */
  readonly title?: string
  /** Read by models. */
  readonly description?: string
  /** Schema of the arguments, where its own cannot be shown as JSON Schema (zod 3). */
  readonly input?: AnySchema
  /** Longest time of one call. Default: `limits.timeoutMs` of the hub. */
  readonly timeoutMs?: number
}
