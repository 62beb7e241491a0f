import { ToolError } from '../../core/index.ts'

/** SQLite would end a text at its first NUL, and two different keys would be one; PostgreSQL takes no such text. */
export function assertNoNul(text: string): void {
  if (text.includes('\0'))
    throw new ToolError('INPUT_SCHEMA_INVALID', 'Text in the store must not contain a NUL character.', {
      hint: 'Leave the character U+0000 out of names, keys and texts.',
    })
}
