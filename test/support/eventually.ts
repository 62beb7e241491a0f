import { vi } from 'vitest'

/** Repeats a check until it passes; the limit is for a machine that is busy with other work. */
export function eventually<T>(check: () => T | Promise<T>, { interval = 10 } = {}): Promise<T> {
  return vi.waitFor(check, { timeout: 100_000, interval })
}
