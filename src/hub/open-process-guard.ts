import { existsSync, realpathSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Clock } from '../clock.ts'
import { statsIfThere } from '../disk/stats-if-there.ts'
import type { NetworkGuard } from '../guards/network/network-guard.ts'
import { DEFAULT_LIMITS } from '../guards/process/jail/default-limits.ts'
import { createProcessGuard, type ProcessGuard } from '../guards/process/process-guard.ts'
import type { CommandLimits, Sandbox } from '../options.ts'
import type { BackgroundProcess } from '../store/background-processes.ts'

/** What the owner says about commands, and what they must not touch. */
export interface ProcessDoorOptions {
  readonly sandbox: Sandbox
  readonly limits: CommandLimits
  readonly clock: Clock
  /** Folders that no command sees: records, grants. */
  readonly hidden: readonly string[]
  readonly network: () => NetworkGuard
  readonly lost: readonly BackgroundProcess[]
}

/** What would run code later or change the rules; as the shipped policy says it for files, where commands need not write. */
const RESERVED = [
  '.git/commondir',
  '.git/config.worktree',
  '.vscode',
  '.claude',
  '.cursor',
  '.mcp.json',
  '.envrc',
  ...['yaml', 'yml', 'json', 'json5', 'jsonc', 'mjs'].map((ending) => `tool-hub.${ending}`),
]

/** Made by every `git init`, which is nothing bad; what is there is not changed. */
const PROTECTED = [...RESERVED, '.git/hooks', '.git/config']

/** Opens the door to commands for the given roots. */
export function openProcessGuard(
  roots: ReadonlyArray<{ readonly path: string; readonly mode: 'read' | 'write' }>,
  { sandbox, limits, clock, hidden, network, lost }: ProcessDoorOptions,
): ProcessGuard {
  const real = roots.map(({ path, mode }) => ({ path: realpathSync(path), mode }))
  const {
    readable = [],
    writable = [],
    caches = [],
    env = [],
    secrets = 'hidden',
    level,
    prepared,
  } = sandbox.commands ?? {}
  const { cpuMs, ...bounds } = { ...DEFAULT_LIMITS, ...limits }
  const protect = (sandbox.protect ?? []).map((path) => resolve(path))
  const below = (path: string) => real.some((root) => isBelow(root.path, path))
  return createProcessGuard({
    roots: real,
    readable,
    writable,
    caches,
    passEnv: env,
    protect: [
      ...real.flatMap(({ path }) => PROTECTED.map((name) => join(path, name))).flatMap(withTarget),
      // Of a worktree: it says whose config git reads.
      ...real.map(({ path }) => join(path, '.git')).filter((path) => statsIfThere(path)?.isFile()),
      ...protect.flatMap(withTarget),
    ].filter(below),
    reserved: [
      ...real.flatMap(({ path, mode }) => (mode === 'write' ? RESERVED.map((name) => join(path, name)) : [])),
      ...protect.filter(below),
    ],
    hide: hidden.filter(below),
    hideSecrets: secrets === 'hidden',
    limits: { ...bounds, cpuSeconds: Math.max(1, Math.ceil(cpuMs / 1000)) },
    clock,
    level,
    prepared,
    lost,
    // It is closed with its command, which may outlive its call.
    proxy: sandbox.network?.length
      ? (judge, owner) => network().openProxy(judge, new AbortController().signal, { owner })
      : undefined,
  })
}

/** A protected place may be a link: what it leads to is what counts. */
function withTarget(path: string): string[] {
  return existsSync(path) ? [...new Set([path, realpathSync(path)])] : [path]
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '' && !way.startsWith('..')
}
