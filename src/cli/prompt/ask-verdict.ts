import { isCancel, select, text } from '@clack/prompts'
import type { MemoryCandidate } from '../../features/memory/index.ts'
import { interrupt, interruptSignal } from '../exit.ts'
import { say } from '../output/print.ts'

/** Shows a note that waits to the person at the terminal, and asks what to do with it. */
export async function askVerdict(
  { content }: MemoryCandidate,
  shown: string,
): Promise<{ promote: true; content?: string } | { promote: false } | 'stop' | undefined> {
  const place = { output: process.stderr, signal: interruptSignal() }
  say(`\n${shown}`)
  const choice = await select({
    ...place,
    message: 'May agents remember this?',
    options: [
      { value: 'yes', label: 'Yes' },
      { value: 'edit', label: 'Yes, in other words' },
      { value: 'no', label: 'No' },
      { value: 'later', label: 'Later' },
    ],
    // Pressing only Enter does not show that somebody has read it.
    initialValue: 'later',
    showInstructions: false,
  })
  if (isCancel(choice)) return stop()
  if (choice === 'later') return undefined
  if (choice !== 'edit') return choice === 'yes' ? { promote: true } : { promote: false }
  const edited = await text({ ...place, message: 'What they may remember:', initialValue: content })
  if (isCancel(edited)) return stop()
  return edited.trim() === '' ? undefined : { promote: true, content: edited }
}

/** The prompt took Ctrl-C from us: it means the whole command, not only the question. */
function stop(): 'stop' {
  interrupt()
  return 'stop'
}
