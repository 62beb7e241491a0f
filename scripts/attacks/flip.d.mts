/** Starts another process that exchanges two names in a tight loop. */
export function startFlipping(a: string, b: string): Promise<{ readonly how: string; stop(): Promise<void> }>
