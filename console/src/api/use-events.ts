import { useEffect, useRef } from 'react'
import { useValue } from '../state/create-value.ts'
import { type Connection, connection, onEvent } from './event-stream.ts'
import type { ServiceEvent } from './types.ts'

/** Hears what happens in the service while the component is shown; of these types, or all. */
export function useEvents(listener: (event: ServiceEvent) => void, types?: readonly ServiceEvent['type'][]): void {
  const latest = useRef(listener)
  useEffect(() => {
    latest.current = listener
  })
  const wanted = types?.join(' ')
  useEffect(() => {
    if (wanted === '') return
    const heard = wanted === undefined ? undefined : new Set(wanted.split(' '))
    return onEvent((event) => {
      if (heard === undefined || heard.has(event.type)) latest.current(event)
    })
  }, [wanted])
}

/** How the page stands with the server. */
export function useConnection(): Connection {
  return useValue(connection)
}
