import { chown, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Browser } from 'playwright-core'
import type { Clock } from '../../../clock.ts'
import type { BrowserSandbox } from '../../../contracts/browser.ts'
import type { RunningProgram } from '../../../contracts/commands.ts'
import { ToolError } from '../../../errors.ts'
import { PROXY_PORT } from '../../process/bridge/bridge.ts'
import { privateFolder } from '../../process/jail/private-folder.ts'
import { launchProgram } from '../../process/program/launch-program.ts'
import type { BrowserSettings } from '../browser-settings.ts'
import { browserJail, browserUser } from './browser-jail.ts'
import { type ChosenSandbox, chooseSandbox } from './choose-sandbox.ts'
import { chromiumArguments } from './chromium-arguments.ts'
import { findChromium } from './find-chromium.ts'
import { loadPlaywright } from './load-playwright.ts'
import { pipeTransport } from './pipe-transport.ts'
import { openGate, type ProxyGate } from './proxy-gate.ts'

/** A browser that runs. */
export interface Chromium {
  readonly browser: Browser
  readonly gate: ProxyGate
  /** What its contexts say is their proxy. */
  readonly proxy: string
  readonly executable: string
  readonly sandbox: BrowserSandbox
  /** Where downloads lie until they are read. */
  readonly folder: string
  readonly pid: number
  /** Resolves when it is gone, however that was, and all it has written. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

const START_MS = 20_000
const STOP_MS = 500
const KEPT_CHARS = 4_000
/** The pipes of the protocol are the standard ones, since only these go through a jail. */
const ON_STANDARD_PIPES = 'exec "$0" "$@" 3<&0 4>&1 1>&2 0</dev/null'

/** Starts Chromium, fenced in, with one way to the network that lets nobody in yet. */
export async function startChromium(settings: BrowserSettings, clock: Clock): Promise<Chromium> {
  const playwright = await loadPlaywright()
  const executable = await findChromium(settings, playwright)
  const chosen = await chooseSandbox(executable, settings.sandbox)
  // Swept by the next hub when this one is killed.
  const folder = await mkdtemp(join(privateFolder(), 'browser-'))
  const user = browserUser(executable)
  if (user) await chown(folder, user.uid, user.gid)
  const path = chosen.sandbox === 'jail' ? `${folder}.sock` : undefined
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
    const jail = await browserJail({ ...request, ...(path !== undefined && { proxySocket: path }) })
    const env = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder, TMPDIR: folder }
    const program = await launchProgram({ jail, words, cwd: folder, env, clock, release })
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
  // It may be gone already, or hang: the program is stopped whatever it answers.
  await Promise.race([browser.close().catch(() => {}), program.ended])
  await program.stop({ graceMs: STOP_MS })
  await program.ended
}

/** Reads what it complains about, and keeps the end of it. */
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
          ? 'If its own sandbox does not work here, set browser.sandbox: jail; tool-hub doctor says more.'
          : 'tool-hub doctor says what is missing.',
      details: { said },
      cause,
    },
  )
}
