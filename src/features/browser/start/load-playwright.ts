import { isOutOfResources, lazyModule, ToolError } from '../../../core/index.ts'

const loadPlaywrightCore = lazyModule(() => import('playwright-core'), { isPreloaded: false })

/** The package that drives Chromium, as far as it is used. */
export type Playwright = typeof import('playwright-core')

/** Loads the package, which an owner installs who wants a browser. */
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
