import type { ToolResult } from '../../packages/core/src/call.ts'
import type { SandboxLevel } from '../../packages/core/src/commands.ts'
import type { CommandLimits } from '../../packages/core/src/limits.ts'

/** One attempt as a command to run. */
export interface Task {
  readonly name: string
  readonly argv: readonly string[]
  readonly cwd: string
  /** `plant FILE`, `first SCRIPT`, `background SCRIPT` or `kill hub`: what must happen first; such attempts run alone. */
  readonly before?: string
  /** What the machine must have for it to be tried. */
  readonly machine?: string
  /** How often it is tried, for one that must win a race. */
  readonly repeat: number
}

/** What a hub of attempts is started with. */
export interface Order {
  /** Marks the processes of this world. */
  readonly name: string
  readonly root: string
  readonly secondRoot: string
  readonly level: SandboxLevel
  readonly limits: CommandLimits
  readonly secrets: Readonly<Record<string, string>>
  readonly tasks: readonly Task[]
  readonly atOnce: number
  /** Inputs of commands that hold secrets, to see what is written of them. */
  readonly spoken: readonly unknown[]
}

/** What it says of each command; `done` when all have been run. */
export interface Outcome {
  readonly name: string
  readonly result?: ToolResult
  /** Processes that were left. */
  readonly left?: readonly number[]
}

/** The words that run a script by its ending; without what Python would look for elsewhere. */
export function wordsFor(path: string): string[] {
  return path.endsWith('.py') ? ['python3', '-E', '-S', path] : ['bash', path]
}
