import type { SandboxLevel } from '../../contracts/commands.ts'
import type { Artifact } from '../../result.ts'
import type { SetAside } from '../protected/set-aside.ts'

/** Takes secrets out of bytes as they come; what might be the beginning of one waits for the rest. */
export interface StreamRedactor {
  push(bytes: Uint8Array): Uint8Array
  /** What waits and does not look like a secret; for when nothing came for a while, as after a prompt. */
  flush?(): Uint8Array
  end(): Uint8Array
}

/** A file that takes all of a command's output and becomes an artifact. */
export interface OutputFile {
  /** Undefined when taken at once; a promise when the writer should wait. */
  write(bytes: Uint8Array): Promise<void> | undefined
  read(offset: number, length: number): Promise<Uint8Array>
  finish(options: { readonly name: string; readonly mediaType: string }): Promise<Artifact>
  discard(): Promise<void>
}

/** What a command can see and change of the files. Real paths. */
export interface CommandReach {
  readonly sees: readonly string[]
  readonly writes: readonly string[]
  /** Below what it sees, and not seen. */
  readonly hidden: readonly string[]
  /** Roots that hold something and that the owner does not trust. */
  readonly untrusted: readonly string[]
  readonly sandbox: SandboxLevel
}

/** What the pipeline says about one call that runs commands. */
export interface CommandCall {
  readonly callId: string
  readonly run: string
  readonly signal: () => AbortSignal
  /** A rule's own bound on the time of a command. */
  readonly maxMs?: number
  /** Told when all is decided, before the command starts; it starts only after this, and not when it fails. */
  readonly beforeStart?: () => Promise<void>
  /** Throws when policy did not decide on this command: another one than was judged, elsewhere, or with other variables. */
  readonly permits: (value: string, at: { readonly cwd: string; readonly env: readonly string[] }) => void
  /**
   * Told what the command will see and change, before it starts; it starts only after this, and not when it fails.
   * Returns a function to be called when it has ended.
   */
  readonly onReach?: (reach: CommandReach) => Promise<() => void>
  readonly redact: () => StreamRedactor
  /** Absent where no records are kept. */
  readonly keepOutput?: () => OutputFile
  /** The judge of what the command reaches; absent where the network is off. */
  readonly connect?: CommandNetwork
  /** A command has made something at a protected place; it was renamed, or why not. */
  readonly onSetAside?: (moved: SetAside) => void
  /** A background command begins and ends: on record and in the store before it is told. */
  readonly onBackground?: (id: string, command: string) => Promise<void>
  readonly onEnded?: (
    id: string,
    command: string,
    how: { exitCode?: number; signal?: string; timedOut: boolean },
  ) => void
}

/** What a command may reach, asked connection by connection. */
export interface CommandNetwork {
  /** Throws a ToolError when the host may not be reached. */
  readonly permits: (url: string) => void
  /** Told of every connection, made and refused. */
  readonly onConnection: (url: string, outcome: string) => void
}
