import picomatch from 'picomatch'
import { LinearMatcher } from './linear-matcher.ts'
import type { BrokenPattern } from './target.ts'

/** Says whether a whole text matches. */
export interface Matcher {
  test(text: string): boolean
}

const LONGEST_GLOB = 16_384

const OPTIONS = {
  dot: true,
  noextglob: true,
  nonegate: true,
  strictBrackets: true,
  windows: false,
} as const

/** A glob of `*`, `**`, `?`, `[a-z]`, `[!a]`, `{a,b}` and `\`; all else is literal. Matching takes linear time. */
export function compileGlob(glob: string): Matcher | BrokenPattern {
  if (glob.length > LONGEST_GLOB) return { broken: `it has ${glob.length} characters, the limit is ${LONGEST_GLOB}` }
  try {
    return new LinearMatcher(`^(?:${globSource(glob)})$`)
  } catch (error) {
    return { broken: error instanceof Error ? error.message : 'it is not a glob' }
  }
}

/** The regular expression that a glob means, for the flag `s`: a line break in a name must not hide it from `**`. */
function globSource(glob: string): string {
  // Its types leave out that the third argument asks for the source. As a RegExp it would go back and forth for ages.
  return picomatch.makeRe(escapeOtherSyntax(glob), OPTIONS, true) as unknown as string
}

/** Makes a text match only itself as a glob. */
export function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?[\]{}]/g, '\\$&')
}

/** The text that a glob stands for when nothing in it varies. */
export function literalOf(glob: string): string | undefined {
  if (/[*?[\]{}]/.test(glob.replaceAll(/\\./gs, ''))) return undefined
  return glob.replaceAll(/\\(.)/gs, '$1')
}

/** Extended globs, groups and quotes of picomatch are ordinary characters of file names here, and so is a `\d`. */
function escapeOtherSyntax(glob: string): string {
  return glob.replaceAll(/\\.|\[!|\[\^?\]?[^\]]*\]|[()|!+@^$"]/gs, (part) => {
    if (part === '[!') return '[^'
    return part.length > 1 ? part.replaceAll(/\\([A-Za-z0-9])/g, '$1') : `\\${part}`
  })
}
