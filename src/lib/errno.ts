/** `ENOENT` and the like: the code that the system or Node gave an error; `UNKNOWN` for one without. */
export function errnoOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'UNKNOWN'
}
