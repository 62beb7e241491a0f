import type { AskSecondParser } from './reading.ts'

/** Why the second parser gives no certainty: it is missing, cannot parse the text, or sees a command that was not found. */
export function compareOpinions(
  text: string,
  found: ReadonlySet<number>,
  ask: AskSecondParser | undefined,
): string | undefined {
  if (ask === undefined) return 'the second parser is not loaded'
  const { hasError, names } = ask(text)
  if (hasError) return 'the second parser cannot parse it'
  // It knows fewer places where commands stand than the first; only what it sees and the first does not is a doubt.
  const missed = names.find(({ from }) => !found.has(from))
  return missed && `the parsers disagree about ${JSON.stringify(text.slice(missed.from, missed.to))}`
}
