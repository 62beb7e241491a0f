import { z } from 'zod'
import { duration, key, parseDuration, parseSize, size, text, withoutUndefined } from '../../core/config/index.ts'
import { defineConfig } from '../../core/index.ts'
import type { BrowserOptions } from './types.ts'

const section = z.strictObject({
  executable: key(text, 'The Chromium, Chrome or Edge to use; the usual places are looked at unless said.'),
  channel: key(
    z.enum(['chromium', 'chrome', 'msedge']),
    'Which browser to look for; any, Chromium first, unless said.',
  ),
  headless: key(z.boolean(), 'false shows its windows.', true),
  sandbox: key(
    z.enum(['own', 'jail', 'none']),
    "How it is kept from the machine: Chromium's own sandbox where that works, else the jail of commands; none only if you say so.",
  ),
  idle: key(duration, 'How long nobody may use it before it is closed.', '5m'),
  timeout: key(duration, 'How long one action may take.', '30s'),
  tabs: key(z.int().min(1).max(64), 'The most tabs of one run.', 8),
  traffic: key(size, 'The most bytes that the pages of one run send and get.', '200MB'),
  download: key(size, 'The most bytes of one download.', '50MB'),
  pageMemory: key(size, 'The most memory for the scripts of one page.', '512MB'),
})

/** The section `browser` of the config file. */
export const browserConfig = defineConfig({
  description: 'The browser that agents use; docs/reference/browser.md.',
  schema: section,
  toOptions: toBrowser,
})

function toBrowser(written: z.output<typeof section>, resolvePath: (path: string) => string): BrowserOptions {
  const { executable, channel, headless, sandbox, idle, timeout, tabs, traffic, download, pageMemory } = written
  return withoutUndefined<BrowserOptions>({
    ...{ channel, headless, sandbox, tabs },
    executable: executable === undefined ? undefined : resolvePath(executable),
    idleMs: idle === undefined ? undefined : parseDuration(idle),
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout),
    trafficBytes: traffic === undefined ? undefined : parseSize(traffic),
    downloadBytes: download === undefined ? undefined : parseSize(download),
    pageMemoryBytes: pageMemory === undefined ? undefined : parseSize(pageMemory),
  })
}
