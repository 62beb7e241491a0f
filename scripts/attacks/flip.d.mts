/** Starts another process that exchanges two names in a tight loop. */
export function startFlipping(
  a: string,
  b: string,
): Promise<{ readonly how: string; pausing(work: () => void): void; stop(): Promise<void> }>
