import picomatch from 'picomatch'
import type { BrokenPattern } from './target.ts'

const OPTIONS = {
  dot: true,
  noextglob: true,
  nonegate: true,
  strictBrackets: true,
  windows: false,
  // Otherwise a broken pattern becomes one that never matches, and a deny would be silently dead.
  debug: true,
  // Otherwise a line break in a name hides it from `**`.
  flags: 's',
} as const

/** A glob of `*`, `**`, `?`, `[a-z]`, `[!a]`, `{a,b}` and `\` as a regular expression; all else is literal. */
export function compileGlob(glob: string): RegExp | BrokenPattern {
  try {
    return picomatch.makeRe(escapeOtherSyntax(glob), OPTIONS)
  } catch (error) {
    return { broken: error instanceof Error ? error.message : 'it is not a glob' }
  }
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

/** Extended globs, groups and quotes of picomatch are ordinary characters of file names here. */
function escapeOtherSyntax(glob: string): string {
  return glob.replaceAll(/\\.|\[!|\[\^?\]?[^\]]*\]|[()|!+@^$"]/gs, (part) => {
    if (part === '[!') return '[^'
    return part.length > 1 ? part : `\\${part}`
  })
}
