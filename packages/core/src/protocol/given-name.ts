/** What a name may contain that people give to a token or a schedule. */
export const NAME_SIGNS = 'letters and digits of any language, . _ and -, beginning with a letter or digit'

/** Some letters and marks are drawn as nothing. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u

/** Matches a name of at most so many characters. It accepts no blanks, no controls, and no signs that change the direction. */
export function namePattern(maxLength: number): RegExp {
  return new RegExp(`^[\\p{L}\\p{Nd}][\\p{L}\\p{M}\\p{Nd}._-]{0,${maxLength - 1}}$`, 'u')
}

/** The form in which a name is stored and compared: the two ways to write an `é` are one name. */
export function normalName(name: string): string {
  return name.normalize('NFC')
}

/** Whether people may give this name. */
export function isGivenName(name: string, maxLength: number): boolean {
  return namePattern(maxLength).test(normalName(name)) && !INVISIBLE.test(name)
}
