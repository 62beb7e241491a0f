import { access, constants, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { failAtRunTime, isOutOfResources, lazyModule, ToolError } from '@tool-hub/core'
import type { BrowserOptions } from '../types.ts'

const loadPlaywrightCore = lazyModule(() => import('playwright-core').catch(failAtRunTime), { isPreloaded: false })

/** The package that controls Chromium. */
type Playwright = typeof import('playwright-core')

/** Loads playwright-core, an optional dependency; throws `SANDBOX_UNAVAILABLE` if it is not installed. */
export async function loadPlaywright(): Promise<Playwright> {
  try {
    return await loadPlaywrightCore()
  } catch (cause) {
    if (isOutOfResources(cause)) throw cause
    throw new ToolError('SANDBOX_UNAVAILABLE', 'The package playwright-core, which drives the browser, is missing.', {
      hint: 'npm install playwright-core',
      cause,
    })
  }
}

type Channel = NonNullable<BrowserOptions['channel']>

// Binaries come before the launchers of distributions, which add machine-specific switches.
const PLACES: Readonly<Record<Channel, readonly string[]>> = {
  chromium: [
    '/usr/lib/chromium/chromium',
    '/usr/lib64/chromium-browser/chromium-browser',
    '/usr/lib/chromium-browser/chromium-browser',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  chrome: [
    '/opt/google/chrome/chrome',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    join(homedir(), 'Applications/Google Chrome.app/Contents/MacOS/Google Chrome'),
  ],
  msedge: ['/opt/microsoft/msedge/msedge', '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge'],
}

const NAMES: Readonly<Record<Channel, readonly string[]>> = {
  chromium: ['chromium', 'chromium-browser'],
  chrome: ['google-chrome', 'google-chrome-stable'],
  msedge: ['microsoft-edge', 'microsoft-edge-stable'],
}

const INSTALL = 'Install one: apt-get install chromium, or npx playwright-core install chromium.'

/** The real path of the browser to use: the configured one, otherwise the first one found in the usual places. */
export async function findChromium(
  { executable, channel }: Pick<BrowserOptions, 'executable' | 'channel'>,
  playwright: Playwright,
): Promise<string> {
  if (executable !== undefined) {
    const found = await runnable(executable)
    if (found !== undefined) return found
    throw missing(`${JSON.stringify(executable)} at browser.executable is not an executable file.`)
  }
  for (const place of candidates(channel, playwright)) {
    const found = await runnable(place)
    if (found !== undefined) return found
  }
  throw missing(`No ${channel ?? 'Chromium, Chrome or Edge'} was found on this machine.`)
}

function candidates(channel: Channel | undefined, { chromium }: Playwright): string[] {
  const channels: readonly Channel[] = channel ? [channel] : ['chromium', 'chrome', 'msedge']
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/'))
  const named = channels.flatMap((each) => NAMES[each].flatMap((name) => folders.map((folder) => join(folder, name))))
  const downloaded = channels.includes('chromium') ? [chromium.executablePath()] : []
  return [...channels.flatMap((each) => PLACES[each]), ...downloaded.filter(Boolean), ...named]
}

async function runnable(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK)
    return await realpath(path)
  } catch {
    // Not there, or not ours to run: the next place may have one.
    return undefined
  }
}

function missing(message: string): ToolError {
  return new ToolError('SANDBOX_UNAVAILABLE', message, { fix: { key: 'browser.executable', hint: INSTALL } })
}
