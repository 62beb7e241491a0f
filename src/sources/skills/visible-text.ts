// What no reader sees: control characters but tab and line ends, fillers, zero widths, tags, bidi marks, annotations.
const INVISIBLE = '[^\\P{Cc}\\t\\n\\r]|\\p{Default_Ignorable_Code_Point}|[\\ufff9-\\ufffb]|\\p{Cs}'

// What looks like that and is seen: what makes one emoji of several, joiners that shape the letters of some scripts.
const PICTURE = '\\p{Extended_Pictographic}'
const LETTER = '[[\\p{L}\\p{M}]--\\p{Script=Latin}]'
const SHAPING = [
  `(?<=${PICTURE}\\p{Emoji_Modifier}?\\ufe0f?)\\u200d(?=${PICTURE})`,
  `(?<=${PICTURE})\\ufe0f`,
  '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
  `(?<=${LETTER})[\\u200c\\u200d](?=${LETTER})`,
]
const PATTERN = new RegExp(`(?<shaping>${SHAPING.join('|')})|${INVISIBLE}`, 'gv')

/** A text without what no reader sees, by which instructions are hidden in it, and how many characters that were. */
export function visibleText(text: string): { readonly text: string; readonly hidden: number } {
  let hidden = 0
  const visible = text.replace(PATTERN, (character: string, shaping: string | undefined) => {
    if (shaping !== undefined) return character
    hidden++
    return ''
  })
  return { text: visible, hidden }
}
