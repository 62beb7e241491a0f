/** What a command may use when the owner does not say. */
export const DEFAULT_LIMITS = {
  cpuMs: 600_000,
  memoryBytes: 2_000_000_000,
  processes: 256,
  fileBytes: 1_000_000_000,
  openFiles: 1_024,
  diskBytes: 10_000_000_000,
  newFiles: 500_000,
  outputBytes: 1_000_000_000,
} as const
