import { chown, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { type Clock, type DoctorFinding, type RunningProgram, type SandboxLevel, ToolError } from '@tool-hub/core'
import {
  canEnter,
  NOBODY_USER,
  PROXY_PORT,
  type ProcessLimits,
  privateFolder,
  runAs,
  type SandboxLaunch,
} from '@tool-hub/sandbox/exec'
import {
  buildSandbox,
  commandEnvironment,
  isVisibleInSandbox,
  launchProgram,
  probeSandboxOnce,
} from '@tool-hub/sandbox/exec/start'
import type { Browser } from 'playwright-core'
import type { BrowserOptions, BrowserSandbox, BrowserSettings } from '../types.ts'
import { chromiumArguments } from './chromium-arguments.ts'
import { findChromium, loadPlaywright } from './find-chromium.ts'
import { pipeTransport } from './pipe-transport.ts'
import { openGate, type ProxyGate } from './proxy-gate.ts'

const HUGE_BYTES = 2 ** 46

/** For all processes together, where the machine can measure it. */
const MAX_MEMORY_BYTES = 4_000_000_000

/** A running browser. */
export interface Chromium {
  readonly browser: Browser
  readonly gate: ProxyGate
  /** The proxy address for its contexts. */
  readonly proxy: string
  readonly executable: string
  readonly sandbox: BrowserSandbox
  /** Holds downloads until they are read. */
  readonly folder: string
  readonly pid: number
  /** Resolves when the process has exited and its files are deleted. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

const START_MS = 20_000
const STOP_MS = 500
const KEPT_CHARS = 4_000
/** The protocol uses the standard streams, because only these pass into a sandbox. */
const ON_STANDARD_PIPES = 'exec "$0" "$@" 3<&0 4>&1 1>&2 0</dev/null'

/** Starts Chromium in a sandbox; its only network access is a proxy gate that admits no run yet. */
export async function startChromium(settings: BrowserSettings, clock: Clock): Promise<Chromium> {
  const playwright = await loadPlaywright()
  const executable = await findChromium(settings, playwright)
  const chosen = await chooseSandbox(executable, settings.sandbox)
  // If this hub is killed, the next one deletes the folder.
  const folder = await mkdtemp(join(privateFolder(), 'browser-'))
  const user = browserUser(executable)
  if (user) await chown(folder, user.uid, user.gid)
  const path = chosen.sandbox === 'command' ? `${folder}.sock` : undefined
  const gate = await openGate({ ...(path !== undefined && { path }), ...(user && { owner: user }) })
  const release = async () => {
    await gate.close()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const proxy = `http://127.0.0.1:${gate.port ?? PROXY_PORT}`
    const words = [
      ...['/bin/sh', '-c', ON_STANDARD_PIPES, executable],
      ...chromiumArguments({
        ...settings,
        profile: join(folder, 'profile'),
        proxy,
        hasOwnSandbox: chosen.sandbox === 'own',
      }),
    ]
    const request = { chosen, executable, folder, downloadBytes: settings.downloadBytes }
    const launch = await browserSandbox({ ...request, ...(path !== undefined && { proxySocket: path }) })
    const env = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder, TMPDIR: folder }
    const program = await launchProgram({ sandbox: launch, words, cwd: folder, env, clock, release })
    const said = lastWords(program.stderr)
    const stop = () => void program.stop({ graceMs: STOP_MS })
    const browser = await playwright.chromium
      .connectOverCDP(pipeTransport(program, stop), { artifactsDir: folder, timeout: START_MS })
      .catch(async (cause) => {
        await program.stop({ graceMs: 0 })
        throw notStarted(executable, chosen, said(), cause)
      })
    return {
      ...{ browser, gate, proxy, executable, sandbox: chosen.sandbox, folder, pid: program.pid },
      ended: program.ended.then(() => {}),
      close: () => closeAll(browser, program),
    }
  } catch (error) {
    await release()
    throw error
  }
}

async function closeAll(browser: Browser, program: RunningProgram): Promise<void> {
  // The browser may have exited or hang; the process is stopped in any case.
  await Promise.race([browser.close().catch(() => {}), program.ended])
  await program.stop({ graceMs: STOP_MS })
  await program.ended
}

/** Keeps the end of the error output. */
function lastWords(stream: Readable): () => string {
  let text = ''
  stream.on('data', (chunk: Buffer) => {
    text = (text + chunk).slice(-KEPT_CHARS)
  })
  return () => text
}

function notStarted(executable: string, { sandbox }: ChosenSandbox, said: string, cause: unknown): ToolError {
  const line = said.split('\n').findLast((each) => /FATAL|No usable sandbox|cannot|error while loading/i.test(each))
  return new ToolError(
    'UPSTREAM_ERROR',
    `${executable} did not start${line ? `: ${line.trim().slice(0, 300)}` : '.'}`,
    {
      hint:
        sandbox === 'own'
          ? 'If its own sandbox does not work here, set browser.sandbox: command; tool-hub doctor says more.'
          : 'tool-hub doctor says what is missing.',
      details: { said },
      cause,
    },
  )
}

/** What the sandbox of a browser is built from. */
interface SandboxRequest {
  readonly chosen: ChosenSandbox
  readonly executable: string
  /** The folder that it writes to; the owner of the folder runs the browser. */
  readonly folder: string
  readonly downloadBytes: number
  readonly proxySocket?: string
}

/** The user that runs the browser if the hub is root: an unprivileged one, if it can reach the executable. */
export function browserUser(executable: string): typeof NOBODY_USER | undefined {
  if (process.platform !== 'linux' || process.geteuid?.() !== 0) return undefined
  return canEnter(dirname(executable), NOBODY_USER) ? NOBODY_USER : undefined
}

/** The sandbox of a browser: like that of a program, but without its limit on address space, of which V8 reserves a lot. */
export async function browserSandbox(request: SandboxRequest): Promise<SandboxLaunch> {
  const { chosen, executable, folder, proxySocket } = request
  const limits: ProcessLimits = {
    cpuSeconds: Number.POSITIVE_INFINITY,
    memoryBytes: HUGE_BYTES,
    processes: 1_024,
    fileBytes: Math.max(request.downloadBytes, 100_000_000),
    openFiles: 4_096,
  }
  const launch = buildSandbox({
    level: chosen.level,
    roots: [{ path: folder, mode: 'write' }],
    readable: isVisibleInSandbox(executable, []) ? [] : [dirname(executable)],
    writable: [],
    protect: [],
    hide: [],
    limits,
    ...(proxySocket !== undefined && { proxySocket }),
    environment: commandEnvironment({ home: folder }),
  })
  const counted = { ...launch, limits: { ...limits, memoryBytes: MAX_MEMORY_BYTES } }
  return chosen.level === 'none' ? asUser(counted, folder) : counted
}

/** Without a sandbox, the process still has to drop the rights of root. */
async function asUser(launch: SandboxLaunch, folder: string): Promise<SandboxLaunch> {
  const { uid, gid } = await stat(folder)
  const isOther = process.geteuid?.() === 0 && uid !== 0
  const [file, ...args] = runAs({ uid, gid, isOther }, [launch.file, ...launch.args])
  return { ...launch, file: file!, args }
}

/** How Chromium is isolated, and why. */
interface ChosenSandbox {
  readonly sandbox: BrowserSandbox
  /** The level of the process sandbox. */
  readonly level: SandboxLevel
  /** The reason, for people. */
  readonly why: string
}

const SETTINGS = '/proc/sys/'

/**
 * Prefers Chromium's own sandbox, which isolates each page from the rest of the browser. It does not work for root and on
 * machines without user namespaces; there the whole browser runs in the sandbox of commands.
 */
export async function chooseSandbox(executable: string, asked?: BrowserOptions['sandbox']): Promise<ChosenSandbox> {
  if (asked === 'none') return { sandbox: 'none', level: 'none', why: 'browser.sandbox says none' }
  if (asked === 'own') return { sandbox: 'own', level: 'none', why: 'browser.sandbox says own' }
  const obstacle =
    asked === 'command' || asked === 'jail' ? 'browser.sandbox says command' : await obstacleToOwn(executable)
  if (obstacle === undefined) return { sandbox: 'own', level: 'none', why: 'this machine allows it' }
  const { level } = await probeSandboxOnce(undefined)
  if (level !== 'none') return { sandbox: 'command', level, why: obstacle }
  throw new ToolError('SANDBOX_UNAVAILABLE', `The browser cannot be sandboxed on this machine: ${obstacle}.`, {
    fix: {
      key: 'browser.sandbox',
      hint: 'Install bubblewrap (apt install bubblewrap), or run the hub as a user other than root; browser.sandbox: none turns the sandbox off at your own risk.',
    },
  })
}

async function obstacleToOwn(executable: string): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined
  if (process.geteuid?.() === 0) return 'the hub runs as root, which Chromium does not sandbox'
  if (await hasHelper(executable)) return undefined
  const [most, unprivileged, restricted] = await Promise.all([
    setting('user/max_user_namespaces'),
    setting('kernel/unprivileged_userns_clone'),
    setting('kernel/apparmor_restrict_unprivileged_userns'),
  ])
  if (most === '0' || unprivileged === '0' || restricted === '1')
    return 'user namespaces are not available to this user'
  return undefined
}

/** Whether the setuid helper of Chromium's sandbox is installed beside the executable. */
async function hasHelper(executable: string): Promise<boolean> {
  const found = await stat(join(dirname(executable), 'chrome-sandbox')).catch(() => undefined)
  return found !== undefined && found.uid === 0 && (found.mode & 0o4000) !== 0
}

/** Returns `undefined` if the kernel does not have the setting. */
async function setting(name: string): Promise<string | undefined> {
  return (await readFile(join(SETTINGS, name), 'utf8').catch(() => undefined))?.trim()
}

const HOW = {
  own: "in Chromium's own sandbox",
  command: 'inside the sandbox of commands',
  none: 'without any sandbox',
} as const

/** Which browser agents would use, and how it would be kept from the machine. Without one, only those tools fail. */
export async function examineBrowser(options: BrowserOptions): Promise<DoctorFinding> {
  try {
    const executable = await findChromium(options, await loadPlaywright())
    const { sandbox, why } = await chooseSandbox(executable, options.sandbox)
    const detail = `${executable}, ${HOW[sandbox]}: ${why}`
    if (sandbox !== 'none') return { state: 'good', what: 'browser', detail }
    return { state: 'weak', what: 'browser', detail, fix: 'Leave browser.sandbox out, or set it to command.' }
  } catch (error) {
    if (!ToolError.is(error)) throw error
    return { state: 'weak', what: 'browser', detail: error.message, fix: error.fix.hint }
  }
}
