import { escapeText } from '../lib/index.ts'
import { messageOf, ToolError } from './errors.ts'
import { resourceError } from './resource-error.ts'

const MAX_MESSAGE_CHARS = 2_000

/**
 * What the code of a tool threw, as a failure that tells the model why. Throwing is how tools of other frameworks report
 * an ordinary failure, such as a missing file, so it is no defect and does not pause the tool.
 * @param prefix Written before the tool's own words.
 */
export function toolFailure(name: string, thrown: unknown, prefix = ''): ToolError {
  if (ToolError.is(thrown)) return thrown
  const exhausted = resourceError(thrown, `${name} could not run`)
  if (exhausted) return exhausted
  return new ToolError('TOOL_FAILED', `${prefix}${wordsOf(name, thrown)}`, { cause: thrown })
}

function wordsOf(name: string, thrown: unknown): string {
  const said = messageOf(thrown)
  if (said.trim() === '') return `${name} did not say why it failed.`
  return escapeText(said.length > MAX_MESSAGE_CHARS ? `${said.slice(0, MAX_MESSAGE_CHARS)}…` : said)
}
