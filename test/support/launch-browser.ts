import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome']

/** Starts the browser that is installed here, without a window. */
export function launchBrowser(): Promise<Browser> {
  // Its own sandbox does not start for root, who runs the tests in containers.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath: findBrowser(), args })
}

function findBrowser(): string {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const found = BROWSERS.flatMap((name) => folders.map((folder) => join(folder, name))).find(canRun)
  if (found === undefined) throw new Error(`None of ${BROWSERS.join(', ')} is installed.`)
  return found
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
