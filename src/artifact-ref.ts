const REF = /^artifact:([0-9a-f]{64})$/

/** The hash, and with it the file name, of a reference to an artifact; undefined for any other text. */
export function artifactHash(ref: string): string | undefined {
  return REF.exec(ref)?.[1]
}
