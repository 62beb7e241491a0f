import { ToolError } from '../../../core/index.ts'

/** The error for a path that cannot be used: what is wrong, and at which character (counted from 1) where that is known. */
export function invalidPath(problem: string, { index, cause }: { index?: number; cause?: unknown } = {}): ToolError {
  const place = index === undefined ? '' : ` at character ${index + 1}`
  return new ToolError('INPUT_SCHEMA_INVALID', `The path is not valid${place}: ${problem}`, {
    fix: { key: 'path', hint: 'A path that begins with $ is JSONPath (RFC 9535), any other is JMESPath.' },
    cause,
  })
}
