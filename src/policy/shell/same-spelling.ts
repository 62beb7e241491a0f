/** Letters that mean the same to a program. */
const SAME_LETTERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['rm', ['rR']],
  ['cp', ['rR']],
  ['grep', ['rR']],
])

/** The long options that a letter usually stands for, where a program does not say otherwise. */
const LONG_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['a', ['all', 'archive']],
  ['d', ['delete', 'directory']],
  ['f', ['force']],
  ['i', ['interactive', 'in-place']],
  ['m', ['message']],
  ['n', ['dry-run']],
  ['o', ['output']],
  ['p', ['parents', 'print', 'publish']],
  ['q', ['quiet', 'silent']],
  ['r', ['recursive']],
  ['R', ['recursive']],
  ['u', ['user', 'update', 'set-upstream']],
  ['v', ['verbose']],
  ['y', ['yes', 'assume-yes']],
])

/** Programs with long options behind one dash: `-race` is one option, not four. */
const ONE_DASH = new Set(
  'go find java javac terraform tofu packer gcc g++ cc c++ clang clang++ ld openssl ffmpeg ffprobe convert magick dotnet'.split(
    ' ',
  ),
)

/** Says whether options of a program stand behind one dash whole. */
export function hasOneDash(program: string): boolean {
  return ONE_DASH.has(program)
}

/** All letters that mean what this one means. */
export function sameLetters(program: string, letter: string): string {
  return SAME_LETTERS.get(program)?.find((letters) => letters.includes(letter)) ?? letter
}

/** The long options that a letter may stand for. */
export function longNamesOf(letter: string): readonly string[] {
  return LONG_NAMES.get(letter) ?? []
}

/** The one spelling of an operand that has several: a file mode of chmod. */
export function sameOperand(program: string, operand: string): string {
  return program === 'chmod' ? sameMode(operand) : operand
}

/** `0777`, `a=rwx`, `ugo+rwx` and `u=rwx,go=rwx` are `777`. */
function sameMode(mode: string): string {
  if (/^0*[0-7]{1,4}$/.test(mode)) return mode.replace(/^0+(?=.)/, '')
  const full = new Set<string>()
  for (const clause of mode.split(',')) {
    const match = /^([ugoa]+)[=+]([rwx]+)$/.exec(clause)
    if (match === null) return mode
    const [, who = '', what = ''] = match
    if (!['r', 'w', 'x'].every((bit) => what.includes(bit))) return mode
    for (const each of who.includes('a') ? 'ugo' : who) full.add(each)
  }
  return full.size === 3 ? '777' : mode
}
