import { hashJson } from '../value/hash.ts'

/** What an approval is bound to: change any of it and the answer no longer holds. */
export function approvalHash(call: {
  readonly tool: string
  readonly input: unknown
  readonly targets: readonly string[]
  /** The level of isolation: what was approved inside the sandbox is not approved outside. */
  readonly sandbox: string
  /** What made the tool doubtful: a yes to one change of it is none to the next. */
  readonly doubt?: string
}): string {
  const { tool, input, targets, sandbox, doubt } = call
  return hashJson({ tool, input, targets, sandbox, doubt })
}
