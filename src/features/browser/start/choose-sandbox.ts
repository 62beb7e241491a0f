import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BrowserSandbox } from '../../../core/browser.ts'
import type { SandboxLevel } from '../../../core/commands.ts'
import { ToolError } from '../../../core/errors.ts'
import { probeSandboxOnce } from '../../../sandbox/exec/index.ts'

/** How Chromium is fenced in, and why. */
export interface ChosenSandbox {
  readonly sandbox: BrowserSandbox
  /** How strong the jail is, where it is one. */
  readonly level: SandboxLevel
  /** For people. */
  readonly why: string
}

const SETTINGS = '/proc/sys/'

/**
 * Chromium's own sandbox where the machine allows it: then each page is apart from the rest of the browser. Root and
 * machines without user namespaces cannot have that; there the whole browser goes into the jail of commands.
 */
export async function chooseSandbox(executable: string, asked?: BrowserSandbox): Promise<ChosenSandbox> {
  if (asked === 'none') return { sandbox: 'none', level: 'none', why: 'browser.sandbox says none' }
  if (asked === 'own') return { sandbox: 'own', level: 'none', why: 'browser.sandbox says own' }
  const obstacle = asked === 'jail' ? 'browser.sandbox says jail' : await obstacleToOwn(executable)
  if (obstacle === undefined) return { sandbox: 'own', level: 'none', why: 'this machine allows it' }
  const { level } = await probeSandboxOnce(undefined)
  if (level !== 'none') return { sandbox: 'jail', level, why: obstacle }
  throw new ToolError('SANDBOX_UNAVAILABLE', `The browser cannot be fenced in on this machine: ${obstacle}.`, {
    fix: {
      key: 'browser.sandbox',
      hint: 'Install bubblewrap (apt install bubblewrap), or run the hub as another user than root; browser.sandbox: none does without, at your risk.',
    },
  })
}

async function obstacleToOwn(executable: string): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined
  if (process.geteuid?.() === 0) return 'the hub runs as root, for whom Chromium has no sandbox'
  if (await hasHelper(executable)) return undefined
  const [most, unprivileged, restricted] = await Promise.all([
    setting('user/max_user_namespaces'),
    setting('kernel/unprivileged_userns_clone'),
    setting('kernel/apparmor_restrict_unprivileged_userns'),
  ])
  if (most === '0' || unprivileged === '0' || restricted === '1') return 'user namespaces are closed to this user'
  return undefined
}

/** The program of root's that makes a sandbox for others, where a distribution installs it. */
async function hasHelper(executable: string): Promise<boolean> {
  const found = await stat(join(dirname(executable), 'chrome-sandbox')).catch(() => undefined)
  return found !== undefined && found.uid === 0 && (found.mode & 0o4000) !== 0
}

/** Undefined where a kernel does not have it. */
async function setting(name: string): Promise<string | undefined> {
  return (await readFile(join(SETTINGS, name), 'utf8').catch(() => undefined))?.trim()
}
