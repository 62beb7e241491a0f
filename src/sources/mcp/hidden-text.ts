/**
 * What a person does not see and a model reads: format characters (bidi, zero-width, tags), controls, variation
 * selectors but those of emoji, and letters that are drawn as nothing.
 */
const HIDDEN =
  /[^\P{Cc}\t\n\r]|\p{Cf}|\p{Zl}|\p{Zp}|\p{Cs}|[\u{fe00}-\u{fe0e}]|[\u{e0100}-\u{e01ef}]|\u{34f}|\u{115f}|\u{1160}|\u{17b4}|\u{17b5}|\u{2800}|\u{3164}|\u{ffa0}/gu
/** A zero-width joiner inside an emoji draws one picture: 👩‍💻. */
const JOINED_EMOJI =
  /(?<=\p{Extended_Pictographic}[\u{fe0f}\u{1f3fb}-\u{1f3ff}]?)\u{200d}(?=\p{Extended_Pictographic})/gu
/** Stands for such a joiner while the others go; no text from outside can hold it, for it is hidden too. */
const KEPT = '\u{0}'

/** Whether a text holds characters that are not seen. */
export function holdsHidden(text: string): boolean {
  return text.replace(JOINED_EMOJI, '').search(HIDDEN) !== -1
}

/** The text without them. */
export function withoutHidden(text: string): string {
  const marked = text.replaceAll(KEPT, '').replace(JOINED_EMOJI, KEPT)
  return marked.replace(HIDDEN, (character) => (character === KEPT ? '\u{200d}' : ''))
}
