import { ToolError } from '../core/errors.ts'
import { descriptorLimit } from '../lib/descriptors.ts'

/** With fewer descriptors, records, store and commands would fail one after the other. */
const MIN_DESCRIPTORS = 256
/** Descriptors that are never for connections: records, store, files and commands need them. */
const RESERVED_DESCRIPTORS = 128
const MAX_CONNECTIONS = 10_000

/**
 * How many connections the service takes at a time, WebSockets and event streams included: half of the descriptors that
 * the process may open, so that connections alone never exhaust them. Throws CONFIG_INVALID if there are too few.
 */
export function connectionLimit(wanted?: number, descriptors = descriptorLimit()): number {
  if (descriptors < MIN_DESCRIPTORS) {
    throw new ToolError(
      'CONFIG_INVALID',
      `This process may open ${descriptors} files and connections; the service needs at least ${MIN_DESCRIPTORS}.`,
      { hint: RAISE },
    )
  }
  const most = descriptors - RESERVED_DESCRIPTORS
  if (wanted !== undefined && wanted > most) {
    throw new ToolError(
      'CONFIG_INVALID',
      `service.maxConnections is ${wanted}, but this process may open ${descriptors} files and connections, of which ${RESERVED_DESCRIPTORS} are reserved.`,
      { fix: { key: 'service.maxConnections', hint: `Set it to at most ${most}, or raise the limit. ${RAISE}` } },
    )
  }
  return wanted ?? Math.min(MAX_CONNECTIONS, Math.floor(descriptors / 2))
}

const RAISE = 'Raise the limit before it starts: ulimit -n 4096 in the shell, LimitNOFILE=4096 in a systemd unit.'
