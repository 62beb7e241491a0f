import { isCancel, log, select, text } from '@clack/prompts'
import { type Question, ToolError } from '../../core/index.ts'
import { revealLine, revealText } from '../../lib/index.ts'
import { interrupt } from '../interrupt.ts'
import { oneAtATime } from './one-at-a-time.ts'

const OTHER = -1

/** Lets the person at the terminal answer what a tool asks (`core/ask.user`). */
export function answerOnTerminal(question: Question, { signal }: { readonly signal: AbortSignal }): Promise<string> {
  return oneAtATime(() => answer(question, { output: process.stderr, signal }))
}

type Place = { readonly output: NodeJS.WriteStream; readonly signal: AbortSignal }

async function answer({ question, context, options = [], defaultAnswer }: Question, place: Place): Promise<string> {
  const message = revealText(question)
  if (context) log.message(revealText(context), place)
  if (options.length > 0) {
    const known = options.map((option, index) => ({ value: index, label: revealLine(option) }))
    const all = [...known, { value: OTHER, label: 'Something else' }]
    const choice = await select({ ...place, message, options: all, showInstructions: false })
    if (isCancel(choice)) throw stopped(place)
    if (choice !== OTHER) return options[choice]!
  }
  const typed = await text({
    ...place,
    message,
    placeholder: defaultAnswer && revealLine(defaultAnswer),
    defaultValue: defaultAnswer,
  })
  if (isCancel(typed)) throw stopped(place)
  return typed
}

/** Ctrl-C means the whole command; a stopped call needs no answer any more. */
function stopped({ signal }: Place): ToolError {
  if (!signal.aborted) interrupt()
  return new ToolError('ABORTED', 'The question was not answered.')
}
