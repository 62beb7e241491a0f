import type { compilePolicy } from '../../packages/policy/src/compile-policy.ts'
import type { decide } from '../../packages/policy/src/decide/decide.ts'
import type { loadSecondParser } from '../../packages/runtime/src/hub/second-parser.ts'
import type { readCommandLine } from '../../packages/shell/src/reader/read-command-line.ts'

/** Answers allow, ask or deny. The parts come from dist or from the sources, whichever is to be tried. */
export function createShellJudge(
  parts: {
    readonly compilePolicy: typeof compilePolicy
    readonly decide: typeof decide
    readonly readCommandLine: typeof readCommandLine
    readonly loadSecondParser: typeof loadSecondParser
  },
  rules: { readonly allow?: readonly string[]; readonly deny: readonly string[] },
): Promise<
  (command: string) => {
    readonly verdict: 'allow' | 'ask' | 'deny'
    readonly rule: string
    readonly reason: string
    /** The words of every command that was read. */
    readonly commands: ReadonlyArray<readonly (string | undefined)[]>
  }
>
