import { useState } from 'react'
import { session } from '../../../api/session.ts'

const drafts = new Map<string, unknown>()
session.watch(() => session.get().state !== 'signed-in' && drafts.clear())

/** What was typed for a tool, kept while other tabs and tools are looked at. */
export function useDraft(tool: string, first: () => unknown): [unknown, (input: unknown) => void] {
  const [input, setInput] = useState(() => (drafts.has(tool) ? drafts.get(tool) : first()))
  const change = (next: unknown) => {
    drafts.set(tool, next)
    setInput(next)
  }
  return [input, change]
}
