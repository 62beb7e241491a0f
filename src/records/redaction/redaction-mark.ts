/** What stands where a secret stood: `[redacted:github-token]`. */
export function redactionMark(kind: string): string {
  return `[redacted:${kind}]`
}
