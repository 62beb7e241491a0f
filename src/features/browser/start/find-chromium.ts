import { access, constants, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { ToolError } from '../../../core/index.ts'
import type { BrowserOptions } from '../types.ts'
import type { Playwright } from './load-playwright.ts'

type Channel = NonNullable<BrowserOptions['channel']>

// The programs themselves come first: the launchers of distributions add switches of the machine's own.
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

/** The real path of the browser to use: the one that the owner names, else the first of the usual places. */
export async function findChromium(
  { executable, channel }: Pick<BrowserOptions, 'executable' | 'channel'>,
  playwright: Playwright,
): Promise<string> {
  if (executable !== undefined) {
    const found = await runnable(executable)
    if (found !== undefined) return found
    throw missing(`There is no program to run at browser.executable, ${JSON.stringify(executable)}.`)
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
