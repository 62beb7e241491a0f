import type { ErrorCode, Fix } from '../../core/index.ts'
import { hasNoConfig } from '../hub/known-config.ts'

/** What to do about a failure, in the words of the command line: for an unknown tool also where the names are. */
export function hintOf({ code, fix }: { readonly code: ErrorCode; readonly fix: Fix }): string {
  if (code !== 'TOOL_NOT_FOUND') return withInit(fix.hint)
  const all = 'All names: tool-hub list --hidden.'
  return fix.hint.startsWith('Did you mean') ? `${fix.hint} ${all}` : all
}

/** A file that is not there cannot be changed. */
function withInit(hint: string): string {
  return hasNoConfig() && hint.includes('tool-hub.yaml') ? `${hint} (There is none yet: tool-hub init.)` : hint
}
