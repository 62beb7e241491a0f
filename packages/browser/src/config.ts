import { defineConfig } from '@tool-hub/core'
import { duration, key, parseDuration, parseSize, size, text, withoutUndefined } from '@tool-hub/core/config'
import { z } from 'zod'
import type { BrowserOptions } from './types.ts'

const section = z.strictObject({
  executable: key(
    text,
    'Path of the Chromium, Chrome or Edge to use. Default: the first one found in the usual places.',
  ),
  channel: key(z.enum(['chromium', 'chrome', 'msedge']), 'Which browser to look for. Default: any, Chromium first.'),
  headless: key(z.boolean(), 'Runs without a window; false shows its windows.', true),
  sandbox: key(
    z.enum(['own', 'command', 'jail', 'none']),
    "How it is isolated from the machine. Default: Chromium's own sandbox where it works, otherwise the sandbox of commands (command; its former name jail is deprecated). none turns isolation off.",
  ),
  idle: key(duration, 'Closes the browser after this time without use.', '5m'),
  timeout: key(duration, 'Maximum time of one action.', '30s'),
  tabs: key(z.int().min(1).max(64), 'Maximum number of tabs of one run.', 8),
  traffic: key(size, 'Maximum traffic of the pages of one run, in both directions.', '200MB'),
  download: key(size, 'Maximum size of one download.', '50MB'),
  pageMemory: key(size, 'Maximum memory for the scripts of one page.', '512MB'),
})

/** The section `browser` of the config file. */
export const browserConfig = defineConfig({
  description: 'The browser that agents use; docs/reference/browser.md.',
  schema: section,
  toOptions: toBrowser,
  warnings: ({ sandbox }) => (sandbox === 'jail' ? [{ key: 'sandbox', message: 'jail is called command now.' }] : []),
})

function toBrowser(written: z.output<typeof section>, resolvePath: (path: string) => string): BrowserOptions {
  const { executable, channel, headless, sandbox, idle, timeout, tabs, traffic, download, pageMemory } = written
  return withoutUndefined<BrowserOptions>({
    ...{ channel, headless, tabs },
    sandbox: sandbox === 'jail' ? 'command' : sandbox,
    executable: executable === undefined ? undefined : resolvePath(executable),
    idleMs: idle === undefined ? undefined : parseDuration(idle),
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout),
    trafficBytes: traffic === undefined ? undefined : parseSize(traffic),
    downloadBytes: download === undefined ? undefined : parseSize(download),
    pageMemoryBytes: pageMemory === undefined ? undefined : parseSize(pageMemory),
  })
}
