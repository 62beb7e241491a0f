/**
 * Separates the reason of a doubt from what only a person reads: the texts of an MCP server that nobody has accepted yet
 * could be written to mislead a model.
 */
export const DOUBT_DETAILS = '\nWhat changed:\n'

/** A reason as the caller of a tool may read it, who can be a model. */
export function withoutDoubtDetails(reason: string): string {
  const at = reason.indexOf(DOUBT_DETAILS)
  return at === -1 ? reason : reason.slice(0, at)
}
