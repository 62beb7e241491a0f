import { useEffect, useRef } from 'react'
import { createValue, useValue } from '../lib/watched-value.ts'
import { refreshResources } from './query-client.ts'
import { fetchInSession, session } from './session.ts'
import type { ServiceEvent } from './types.ts'

/** The state of the event stream; `since` is when the server was last reachable. */
interface Connection {
  readonly state: 'connecting' | 'connected' | 'reconnecting' | 'lost'
  readonly since: number
}

/** The current connection. It becomes `lost` after 5 s without the server; reconnecting continues. */
const connection = createValue<Connection>({ state: 'connecting', since: Date.now() })

const LOST_AFTER_MS = 5_000
const SILENT_AFTER_MS = 45_000
const MAX_WAIT_MS = 5_000
const listeners = new Set<(event: ServiceEvent) => void>()
let lastId: string | undefined
let wake = () => {}

/** Subscribes to the events of the service. Returns a function that unsubscribes. */
function onEvent(listener: (event: ServiceEvent) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Keeps a stream of `/v1/events` open and resumes after the last event. Returns a function that closes it. */
export function openEvents(): () => void {
  const abort = new AbortController()
  void keepOpen(abort.signal)
  return () => {
    abort.abort()
    wake()
  }
}

/** Reconnects immediately instead of after the delay. */
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
      // For any failure: the header shows the state until a stream is open again.
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
  if (wasAway) refreshResources()
  let timer = setTimeout(() => silence.abort(), SILENT_AFTER_MS)
  try {
    for await (const message of readSse(response.body)) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENT_AFTER_MS)
      if (message.id !== undefined) lastId = message.id
      if (message.data !== '') emit(JSON.parse(message.data) as ServiceEvent)
    }
  } finally {
    clearTimeout(timer)
  }
}

function emit(event: ServiceEvent): void {
  if (event.type === 'reset') refreshResources()
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

/** Calls the listener for events of the service while the component is mounted. Default: events of all types. */
export function useEvents(listener: (event: ServiceEvent) => void, types?: readonly ServiceEvent['type'][]): void {
  const latest = useRef(listener)
  useEffect(() => {
    latest.current = listener
  })
  const wanted = types?.join(' ')
  useEffect(() => {
    if (wanted === '') return
    const known = wanted === undefined ? undefined : new Set(wanted.split(' '))
    return onEvent((event) => {
      if (known === undefined || known.has(event.type)) latest.current(event)
    })
  }, [wanted])
}

/** The state of the event stream. */
export function useConnection(): Connection {
  return useValue(connection)
}

/** One event of a server-sent stream. */
interface SseMessage {
  readonly id: string | undefined
  readonly event: string
  readonly data: string
}

const MAX_MESSAGE_CHARACTERS = 4_000_000

/** Yields the messages of an event stream. Comments, which keep the stream alive, are messages without data. */
async function* readSse(body: ReadableStream<Uint8Array>): AsyncGenerator<SseMessage> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + value.replaceAll('\r\n', '\n')).split('\n\n')
      rest = blocks.pop() ?? ''
      if (rest.length > MAX_MESSAGE_CHARACTERS)
        throw new Error(`A message has over ${MAX_MESSAGE_CHARACTERS} characters.`)
      for (const block of blocks) yield toMessage(block)
    }
  } finally {
    // The stream may have failed already; the loop above has thrown that error.
    await reader.cancel().catch(() => undefined)
  }
}

function toMessage(block: string): SseMessage {
  const lines = block.split('\n')
  const all = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ''))
  return { id: all('id').at(-1), event: all('event').at(-1) ?? 'message', data: all('data').join('\n') }
}
