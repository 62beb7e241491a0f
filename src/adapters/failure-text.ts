import { type Failure, textOfBlock } from '../core/index.ts'

/** A failure for a model that gets only text: what is wrong, then whatever there is nevertheless. */
export function failureText({ content, data, error }: Failure): string {
  const text = content.map(textOfBlock).join('\n')
  return data === undefined ? text : `${error.code}: ${error.message} ${error.fix.hint}\n${text}`
}
