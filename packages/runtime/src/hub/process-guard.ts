import { realpathSync } from 'node:fs'
import { relative } from 'node:path'
import {
  type Clock,
  type CommandLimits,
  DEFAULT_COMMAND_LIMITS,
  type Sandbox,
  type SandboxLevel,
  ToolError,
} from '@tool-hub/core'
import { isWithin } from '@tool-hub/core/lib'
import type { ProcessGuard } from '@tool-hub/sandbox/exec'
import { createProcessGuard, probeSandboxOnce } from '@tool-hub/sandbox/exec/start'
import type { NetworkGuard } from '@tool-hub/sandbox/network'
import { realIfThere } from '@tool-hub/sandbox/system'
import type { BackgroundProcess } from '../store/index.ts'

/** The owner's options for commands, and the paths that commands must not use. */
export interface ProcessSandboxOptions {
  readonly sandbox: Sandbox
  readonly limits: CommandLimits
  readonly clock: Clock
  /** Folders that are hidden from commands: records, grants. */
  readonly hidden: readonly string[]
  /** Real paths that commands must not change, in addition to protected names. */
  readonly protect: readonly string[]
  /** Folder of the ledger that lists what existed at protected paths before a command started. */
  readonly ledgerFolder: string
  readonly network: () => NetworkGuard
  readonly lost: readonly BackgroundProcess[]
}

/** Returns the isolation level of commands on this machine. Does not need a root. */
export async function sandboxLevel({ commands }: Sandbox): Promise<SandboxLevel> {
  return (await probeSandboxOnce(commands?.level)).level
}

/** Opens the guard that runs commands in the given roots. */
export function openProcessGuard(
  roots: ReadonlyArray<{ readonly path: string; readonly mode: 'read' | 'write'; readonly untrusted?: boolean }>,
  { sandbox, limits, clock, hidden, protect, ledgerFolder, network, lost }: ProcessSandboxOptions,
): ProcessGuard {
  requireSandbox(sandbox)
  const real = roots.map((root) => ({ ...root, path: realpathSync(root.path) }))
  const {
    readable = [],
    writable = [],
    caches = [],
    env = [],
    secrets = 'hidden',
    level,
    prepared,
  } = sandbox.commands ?? {}
  const { cpuMs, ...bounds } = { ...DEFAULT_COMMAND_LIMITS, ...limits }
  const below = (path: string) => real.some((root) => isBelow(root.path, path))
  const written = writable.map(realIfThere)
  const granted = [...readable.map(realIfThere), ...written]
  return createProcessGuard({
    roots: real,
    readable,
    writable,
    caches,
    passEnv: env,
    protect: protect.filter((path) => below(path) || written.some((folder) => isBelow(folder, path))),
    ledgerFolder,
    hide: hidden.filter((path) => below(path) || granted.some((folder) => isWithin(folder, path))),
    hideSecrets: secrets === 'hidden',
    limits: { ...bounds, cpuSeconds: Math.max(1, Math.ceil(cpuMs / 1000)) },
    clock,
    level,
    prepared,
    lost,
    // Each proxy is closed with its command, which may outlive its call.
    proxy: sandbox.network?.length
      ? (judge, owner) => network().openProxy(judge, new AbortController().signal, { owner })
      : undefined,
  })
}

/** Throws on Windows, which has no supported sandbox for commands, unless the owner accepts commands without one. */
export function requireSandbox({ required, commands }: Sandbox, platform: string = process.platform): void {
  if (platform !== 'win32' || required === false || commands?.level === 'none') return
  throw new ToolError(
    'SANDBOX_UNAVAILABLE',
    'Commands are refused on Windows, which has no supported sandbox: they could read and change everything.',
    {
      fix: {
        key: 'sandbox.commands.level',
        value: 'none',
        hint: 'Run the hub in the Windows Subsystem for Linux (WSL 2), or accept commands without a sandbox.',
      },
    },
  )
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '' && !way.startsWith('..')
}
