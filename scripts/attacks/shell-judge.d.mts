import type { loadSecondParser } from '../../src/hub/second-parser.ts'
import type { compilePolicy } from '../../src/policy/compile-policy.ts'
import type { decide } from '../../src/policy/decide.ts'
import type { readCommandLine } from '../../src/shell/reader/read-command-line.ts'

/** Answers allow, ask or deny. The parts come from dist/ or from src/, whichever is to be tried. */
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
