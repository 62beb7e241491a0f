import { RE2JS } from 're2js'
import { globSource, toByteText } from './glob-source.ts'

/** Says whether a whole path matches; time grows with the path only, whatever the glob. */
export type GlobTest = (path: string) => boolean

/** Compiles a glob as ripgrep reads it. */
export function compileGlob(glob: string): GlobTest {
  const expression = RE2JS.compile(`^(?:${globSource(glob)})$`, RE2JS.DOTALL)
  return (path) => expression.test(toByteText(path))
}
