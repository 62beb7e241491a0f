import type { ErrorCode, Fix } from '../../errors.ts'

/** What to do about a failure, in the words of the command line: for an unknown tool also where the names are. */
export function hintOf({ code, fix }: { readonly code: ErrorCode; readonly fix: Fix }): string {
  return code === 'TOOL_NOT_FOUND' ? `${fix.hint} All names: tool-hub list --hidden.` : fix.hint
}
