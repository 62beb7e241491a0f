import { visibleText } from '../skills/visible-text.ts'

/** What is left beyond that: other format characters, ends of lines that no editor shows, an empty picture of dots. */
const OTHERS = /(?!\p{Default_Ignorable_Code_Point})\p{Cf}|\p{Zl}|\p{Zp}|\u{2800}/gu

/** Whether a text holds characters that a person does not see and a model reads. */
export function holdsHidden(text: string): boolean {
  return visibleText(text).hidden > 0 || text.search(OTHERS) !== -1
}

/** The text without them. */
export function withoutHidden(text: string): string {
  return visibleText(text).text.replace(OTHERS, '')
}
