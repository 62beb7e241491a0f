/** Starts another process that exchanges two names, in a tight loop or with pauses of random length. */
export function startFlipping(
  a: string,
  b: string,
  options?: { readonly pauseMs?: number },
): Promise<{ readonly how: string; pausing(work: () => void): void; stop(): Promise<void> }>
