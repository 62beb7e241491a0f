// Characters that no reader sees: controls other than tab and line ends, fillers, zero-width, tags, bidi marks, annotations.
const INVISIBLE = '[^\\P{Cc}\\t\\n\\r]|\\p{Default_Ignorable_Code_Point}|[\\ufff9-\\ufffb]|\\p{Cs}'

// Exceptions that do have a visible effect: joiners inside one emoji, and joiners that shape the letters of some scripts.
const PICTURE = '\\p{Extended_Pictographic}'
const LETTER = '[[\\p{L}\\p{M}]--\\p{Script=Latin}]'
const SHAPING = [
  `(?<=${PICTURE}\\p{Emoji_Modifier}?\\ufe0f?)\\u200d(?=${PICTURE})`,
  `(?<=${PICTURE})\\ufe0f`,
  '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
  `(?<=${LETTER})[\\u200c\\u200d](?=${LETTER})`,
]
const PATTERN = new RegExp(`(?<shaping>${SHAPING.join('|')})|${INVISIBLE}`, 'gv')

/** Refused in addition in definitions: other format characters, line ends that no editor shows, the empty Braille pattern. */
const OTHERS = /(?!\p{Default_Ignorable_Code_Point})\p{Cf}|\p{Zl}|\p{Zp}|\u{2800}/gu

/** Removes characters that no reader sees and that can hide instructions; `hidden` counts the removed characters. */
export function visibleText(text: string): { readonly text: string; readonly hidden: number } {
  let hidden = 0
  const visible = text.replace(PATTERN, (character: string, shaping: string | undefined) => {
    if (shaping !== undefined) return character
    hidden++
    return ''
  })
  return { text: visible, hidden }
}

/** Whether a text contains characters that a model reads and a person does not see. */
export function holdsHidden(text: string): boolean {
  return visibleText(text).hidden > 0 || text.search(OTHERS) !== -1
}

/** The text without the characters that `holdsHidden` finds. */
export function withoutHidden(text: string): string {
  return visibleText(text).text.replace(OTHERS, '')
}
