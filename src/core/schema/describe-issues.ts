import type { SchemaIssue } from './compiled-schema.ts'
import { sayIssue } from './issue-wording.ts'

const MAX_NAMED = 5

/**
 * One message for all issues, for a model or a person to act on.
 * @example
 * describeIssues(issues, 'Invalid arguments for notes.save')
 * // Invalid arguments for notes.save: path must be string, got number; must have no key "pth" (did you mean "path"?).
 */
export function describeIssues(issues: readonly SchemaIssue[], subject: string): string {
  const named = issues.slice(0, MAX_NAMED).map(sayIssue)
  const more = issues.length > MAX_NAMED ? ` and ${issues.length - MAX_NAMED} more` : ''
  return `${subject}: ${named.join('; ')}${more}.`
}
