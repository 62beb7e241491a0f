import type { Artifact, SandboxLevel } from '@tool-hub/core'
import type { CommandNetwork } from '../network/proxy/connect-to-host.ts'
import type { SetAside } from '../protected/disk/index.ts'
import type { RunLaterChange } from '../protected/keeper/index.ts'

/** Removes secrets from a stream of bytes; bytes that might be the beginning of a secret are held back. */
export interface StreamRedactor {
  push(bytes: Uint8Array): Uint8Array
  /** Returns held-back bytes that do not look like a secret; used after a pause in the output, as after a prompt. */
  flush?(): Uint8Array
  end(): Uint8Array
}

/** A file that receives all of a command's output and becomes an artifact. */
export interface OutputFile {
  /** Undefined if the bytes were accepted; a promise if the writer should wait. */
  write(bytes: Uint8Array): Promise<void> | undefined
  read(offset: number, length: number): Promise<Uint8Array>
  finish(options: { readonly name: string; readonly mediaType: string }): Promise<Artifact>
  discard(): Promise<void>
}

/** What a command can see and change of the files. Real paths. */
export interface CommandReach {
  readonly sees: readonly string[]
  readonly writes: readonly string[]
  /** Below `sees`, and not visible. */
  readonly hidden: readonly string[]
  /** Roots that are not empty and that the owner does not trust. */
  readonly untrusted: readonly string[]
  readonly sandbox: SandboxLevel
}

/** What the pipeline passes for one call that runs commands. */
export interface CommandCall {
  readonly callId: string
  readonly run: string
  readonly signal: () => AbortSignal
  /** A rule's own limit on the time of a command. */
  readonly maxMs?: number
  /** Called when everything is decided. The command starts only after this resolves, and not if it rejects. */
  readonly beforeStart?: () => Promise<void>
  /** Throws if policy did not decide on this command: a different one, in another folder, or with other variables. */
  readonly permits: (value: string, at: { readonly cwd: string; readonly env: readonly string[] }) => void
  /**
   * Called with what the command will see and change. The command starts only after this resolves, and not if it
   * rejects. Returns a function to be called when the command has ended.
   */
  readonly onReach?: (reach: CommandReach) => Promise<() => void>
  readonly redact: () => StreamRedactor
  /** Absent if no records are kept. */
  readonly keepOutput?: () => OutputFile
  /** Decides what the command may reach; absent if the network is off. */
  readonly connect?: CommandNetwork
  /** Called when a command has created something at a protected place; it was renamed, or the reason why not. */
  readonly onSetAside?: (moved: SetAside) => void
  /** Called with a sentence about something that a command has made and that stays, but that the owner should know about. */
  readonly onReport?: (text: string) => void
  /** Called when commands have changed files that other programs run or obey later. */
  readonly onRunLater?: (changed: readonly RunLaterChange[]) => void
  /** Called when a command continues in the background; resolves when that is on record and in the store. */
  readonly onBackground?: (id: string, command: string) => Promise<void>
  /** Called when a background command has ended. */
  readonly onEnded?: (
    id: string,
    command: string,
    how: { exitCode?: number; signal?: string; timedOut: boolean },
  ) => void
}
