import { MAX_RESULT_CHARS } from './bounds.ts'
import type { Speak } from './run-command.ts'

/** The task goes to its input, which is closed after it; all that it writes is the result. */
export const speakText: Speak = async ({ stdin, stdout }, { work }) => {
  let text = ''
  let cutChars = 0
  stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const kept = chunk.slice(0, MAX_RESULT_CHARS - text.length)
    text += kept
    cutChars += chunk.length - kept.length
  })
  const over = new Promise<void>((resolve) => stdout.once('close', resolve).once('end', resolve))
  stdin.end(work.task)
  await over
  const result = text.trim()
  return cutChars === 0 ? result : `${result}\n[${cutChars} characters were cut]`
}
