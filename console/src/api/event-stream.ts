import { createValue } from '../state/create-value.ts'
import { fetchInSession } from './fetch-in-session.ts'
import { refreshQueries } from './query-cache.ts'
import { readSse } from './read-sse.ts'
import { session } from './session.ts'
import type { ServiceEvent } from './types.ts'

/** How the page stands with the server; `since` is when it was last heard of. */
export interface Connection {
  readonly state: 'connecting' | 'connected' | 'reconnecting' | 'lost'
  readonly since: number
}

/** The connection to show; `lost` after a while without an answer, though it is tried on. */
export const connection = createValue<Connection>({ state: 'connecting', since: Date.now() })

const LOST_AFTER_MS = 5_000
const SILENT_AFTER_MS = 45_000
const MAX_WAIT_MS = 5_000
const listeners = new Set<(event: ServiceEvent) => void>()
let lastId: string | undefined
let wake = () => {}

/** Hears every event of the service from now on. Returns how to stop. */
export function onEvent(listener: (event: ServiceEvent) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Keeps one stream of `/v1/events` open, going on after the last event that came. Returns how to stop. */
export function openEvents(): () => void {
  const abort = new AbortController()
  void keepOpen(abort.signal)
  return () => {
    abort.abort()
    wake()
  }
}

/** Tries now instead of after the wait. */
export function reconnectNow(): void {
  wake()
}

async function keepOpen(signal: AbortSignal): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      await follow(signal, () => {
        attempt = 0
      })
    } catch {
      // Whatever it was, the stream is gone; the header says so until one is open again.
    }
    if (signal.aborted || session.get().state !== 'signed-in') return
    markMissing()
    await pause(Math.min(MAX_WAIT_MS, 500 * 2 ** attempt))
  }
}

async function follow(signal: AbortSignal, onOpen: () => void): Promise<void> {
  const silence = new AbortController()
  const response = await fetchInSession('/v1/events', {
    headers: { accept: 'text/event-stream', ...(lastId !== undefined && { 'last-event-id': lastId }) },
    signal: AbortSignal.any([signal, silence.signal]),
  })
  if (!response.ok || !response.body) return
  onOpen()
  const wasAway = connection.get().state !== 'connecting'
  connection.set({ state: 'connected', since: Date.now() })
  if (wasAway) refreshQueries()
  let timer = setTimeout(() => silence.abort(), SILENT_AFTER_MS)
  try {
    for await (const message of readSse(response.body)) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENT_AFTER_MS)
      if (message.id !== undefined) lastId = message.id
      if (message.data !== '') tell(JSON.parse(message.data) as ServiceEvent)
    }
  } finally {
    clearTimeout(timer)
  }
}

function tell(event: ServiceEvent): void {
  if (event.type === 'reset') refreshQueries()
  for (const listener of [...listeners]) listener(event)
}

function markMissing(): void {
  const { state, since } = connection.get()
  const from = state === 'connected' ? Date.now() : since
  connection.set({ state: Date.now() - from > LOST_AFTER_MS ? 'lost' : 'reconnecting', since: from })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })
}
