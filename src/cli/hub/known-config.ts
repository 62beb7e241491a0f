let isMissing = false

/** Remembers whether a config was found, for what is reported to people. */
export function noteConfig(file: string | undefined): void {
  isMissing = file === undefined
}

/** Whether a config was looked for and there is none. */
export function hasNoConfig(): boolean {
  return isMissing
}
