import { createValue } from '../state/create-value.ts'

/** A key (`j`, `?`, `Enter`) or two after each other (`g l`), and what it does, for the help. */
interface Shortcut {
  readonly keys: string
  readonly what: string
  readonly group: string
  readonly run: (event: KeyboardEvent) => void
}

const SEQUENCE_MS = 1_000

/** Every shortcut that holds now; the latest of the same keys wins. */
export const shortcuts = createValue<readonly Shortcut[]>([])

let first = ''
let firstAt = 0

/** Adds a shortcut. Returns how to take it off. */
export function addShortcut(shortcut: Shortcut): () => void {
  shortcuts.set([...shortcuts.get(), shortcut])
  return () => shortcuts.set(shortcuts.get().filter((known) => known !== shortcut))
}

/** Listens to the keyboard for the whole page. Returns how to stop. */
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

// Somebody types, presses the button that has the focus, or is within a dialog, whose keys are its own.
function isTaken(event: KeyboardEvent): boolean {
  const target = event.target instanceof Element ? event.target : document.body
  if (target.closest('input, textarea, select, [contenteditable]')) return true
  if ((event.key === 'Enter' || event.key === ' ') && target.closest('button, a, summary')) return true
  return document.querySelector('[role="dialog"][data-open]') !== null && !target.closest('[data-shortcuts]')
}
