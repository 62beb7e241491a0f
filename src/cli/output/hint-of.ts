import type { ErrorCode, Fix } from '../../errors.ts'

/** What to do about a failure, in the words of the command line: for an unknown tool also where the names are. */
export function hintOf({ code, fix }: { readonly code: ErrorCode; readonly fix: Fix }): string {
  if (code !== 'TOOL_NOT_FOUND') return fix.hint
  const all = 'All names: tool-hub list --hidden.'
  return fix.hint.startsWith('Did you mean') ? `${fix.hint} ${all}` : all
}
