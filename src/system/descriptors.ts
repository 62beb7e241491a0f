import { readdirSync, readFileSync } from 'node:fs'
import { errnoOf } from '../lib/index.ts'

/**
 * How many files and connections this process may have open. Returns Infinity if the system does not tell; throws if no
 * descriptor is free to look.
 */
export function descriptorLimit(): number {
  try {
    const limit = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limit === undefined || limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit)
  } catch (error) {
    if (errnoOf(error) === 'EMFILE' || errnoOf(error) === 'ENFILE') throw error
    // Not Linux, or no /proc here.
    return Number.POSITIVE_INFINITY
  }
}

/** How many files and connections this process has open. Throws if no descriptor is free to look. */
export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}
