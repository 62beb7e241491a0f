import { useEffect, useRef } from 'react'
import { createValue } from './watched-value.ts'

/** A key (`j`, `?`, `Enter`) or a sequence of two (`g l`), and what the help says about it. */
interface Shortcut {
  readonly keys: string
  readonly what: string
  readonly group: string
  readonly run: (event: KeyboardEvent) => void
}

const SEQUENCE_MS = 1_000

/** All active shortcuts; of those with the same keys, the latest wins. */
export const shortcuts = createValue<readonly Shortcut[]>([])

let first = ''
let firstAt = 0

/** Adds a shortcut. Returns a function that removes it. */
function addShortcut(shortcut: Shortcut): () => void {
  shortcuts.set([...shortcuts.get(), shortcut])
  return () => shortcuts.set(shortcuts.get().filter((known) => known !== shortcut))
}

/** Handles the keys of the whole page. Returns a function that stops it. */
export function listenForShortcuts(): () => void {
  window.addEventListener('keydown', press)
  return () => window.removeEventListener('keydown', press)
}

function press(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
  if (isTaken(event)) return
  const sequence = event.timeStamp - firstAt < SEQUENCE_MS ? `${first} ${event.key}` : event.key
  first = event.key
  firstAt = event.timeStamp
  const found = find(sequence) ?? find(event.key)
  if (!found) return
  firstAt = 0
  event.preventDefault()
  found.run(event)
}

function find(keys: string): Shortcut | undefined {
  return shortcuts.get().findLast((shortcut) => shortcut.keys === keys)
}

// Keys belong to fields, to the focused button, and to an open dialog.
function isTaken(event: KeyboardEvent): boolean {
  const target = event.target instanceof Element ? event.target : document.body
  if (target.closest('input, textarea, select, [contenteditable]')) return true
  if ((event.key === 'Enter' || event.key === ' ') && target.closest('button, a, summary')) return true
  return document.querySelector('[role="dialog"][data-open]') !== null && !target.closest('[data-shortcuts]')
}

/** Adds a key while the component is mounted. The help (`?`) lists it. */
export function useShortcut(
  keys: string,
  what: string,
  run: (event: KeyboardEvent) => void,
  { group = 'This page', when = true }: { group?: string; when?: boolean } = {},
): void {
  const latest = useRef(run)
  useEffect(() => {
    latest.current = run
  })
  useEffect(() => {
    if (!when) return
    return addShortcut({ keys, what, group, run: (event) => latest.current(event) })
  }, [keys, what, group, when])
}
